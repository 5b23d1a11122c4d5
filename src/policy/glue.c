// SPDX-License-Identifier: MIT
#include "policy/glue.h"

_Alignas(8) const unsigned char gs_glue_default[] = {
#include "glue_default.inc"
};
const size_t gs_glue_default_len = sizeof(gs_glue_default);

_Alignas(8) const unsigned char gs_glue_stock[] = {
#include "glue_stock.inc"
};
const size_t gs_glue_stock_len = sizeof(gs_glue_stock);
