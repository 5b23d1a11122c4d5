# SPDX-License-Identifier: MIT
"""gpusched - see and control, from Python, which process has the GPU

Each verb of the daemon's API (docs/api.md) is a method, its arguments are keywords, and its answer is a dict:

    import gpusched

    g = gpusched.Gpusched()
    for tsg in g.list(target="class:be")["tsgs"]:
        print(tsg["pid"], tsg["is"]["timeslice_us"])
    g.set(target="pid:4711", timeslice_us=500)
    g.class_set(target="pid:4711", class_="be")  # append _ to a keyword of Python
    for event in g.watch():
        print(event["event"])

A failure raises gpusched.Error, an OSError with errno and the daemon's message. A Gpusched object keeps no connection,
so threads may share it. The module needs only the standard library.
"""
import errno
import http.client
import json
import os
import socket as _socket

__all__ = ["Error", "Gpusched"]

_REQUEST_S = 30  # the daemon answers controls within 5 s; starting a policy takes longer
_SILENT_S = 15  # the daemon sends at least an empty line every 5 s


class Error(OSError):
    """The daemon refused a request, or could not do it; `errno` and `strerror` are set."""


class _Connection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("gpusched", timeout=timeout)
        self._path = path

    def connect(self):
        self.sock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        try:
            self.sock.connect(self._path)
        except OSError as e:
            self.sock.close()
            raise Error(e.errno or errno.EIO, f"no daemon answers on {self._path}: {e.strerror}") from e


def _default_socket():
    sim = os.environ.get("GPUSCHED_SIM")
    return os.path.join(sim, "run/api") if sim else "/run/gpusched/api"


def _refusal(response):
    """Returns the Error for an answer whose status is not 200."""
    try:
        said = json.loads(response.read())
        return Error(-said["code"], said["error"])
    except (ValueError, KeyError, TypeError):
        return Error(errno.EPROTO, f"the daemon answered {response.status} without a reason")


class Gpusched:
    """The daemon behind a socket: /run/gpusched/api, or the socket of the simulation in which this process runs."""

    def __init__(self, socket=None):
        self._socket = socket or _default_socket()

    def request(self, verb, **args):
        """Sends one verb and returns the answer. Leaves out arguments that are None."""
        body = {k.rstrip("_"): v for k, v in args.items() if v is not None}
        watched = body.get("for_us", 0) / 1e6 if verb == "status" else 0
        connection = _Connection(self._socket, _REQUEST_S + watched)
        try:
            connection.request("POST", "/v1/" + verb, json.dumps(body), {"Content-Type": "application/json"})
            response = connection.getresponse()
            if response.status == 404:
                raise Error(errno.EINVAL, f"there is no verb '{verb}'")
            if response.status != 200:
                raise _refusal(response)
            return json.loads(response.read())
        except TimeoutError as e:
            raise Error(errno.ETIMEDOUT, f"{verb}: the daemon did not answer") from e
        except (http.client.HTTPException, ValueError) as e:
            raise Error(errno.EPROTO, f"{verb}: the daemon's answer cannot be read: {e}") from e
        finally:
            connection.close()

    def __getattr__(self, verb):
        if verb.startswith("_"):
            raise AttributeError(verb)
        return lambda **args: self.request(verb, **args)

    def watch(self):
        """Yields events as dicts, until the caller stops or the daemon ends."""
        return self._stream("watch")

    def trace(self):
        """Yields watch()'s events, and also every turn on the GPUs, and counters."""
        return self._stream("trace")

    def _stream(self, name):
        connection = _Connection(self._socket, _SILENT_S)
        try:
            connection.request("GET", "/v1/" + name)
            response = connection.getresponse()
            if response.status != 200:
                raise _refusal(response)
            for line in response:
                if line.strip():
                    yield json.loads(line)
        except TimeoutError as e:
            raise Error(errno.ETIMEDOUT, f"{name}: the daemon does not answer any more") from e
        except (http.client.HTTPException, ValueError) as e:
            raise Error(errno.EPROTO, f"{name}: the stream is broken: {e}") from e
        finally:
            connection.close()
