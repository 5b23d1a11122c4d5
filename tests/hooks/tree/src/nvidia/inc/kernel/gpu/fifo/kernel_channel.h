/* SPDX-License-Identifier: MIT */
#include "mini.h"
