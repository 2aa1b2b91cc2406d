"""``molaudit serve``: simulated models behind a real HTTP server on this machine."""

from __future__ import annotations

import argparse

from ..simulated.faults import HINTS
from .options import rate, whole_number


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on; default: this machine only"
    )
    parser.add_argument(
        "--port", type=whole_number(0, 65_535), default=8123, help="port, 0 for any free one; default: 8123"
    )
    parser.add_argument(
        "--latency",
        default="0",
        metavar="SECONDS",
        help="1.0, lognormal:MEDIAN,SIGMA or uniform:LOW,HIGH; default: 0",
    )
    parser.add_argument(
        "--rpm", type=rate, metavar="N", help="requests allowed in a minute; the rest get 429"
    )
    parser.add_argument(
        "--burst", type=whole_number(1), default=1, metavar="N", help="requests allowed at once; default: 1"
    )
    parser.add_argument(
        "--faults",
        default="",
        metavar="KIND=SHARE,...",
        help="such as 429=0.05,500=0.02,reset=0.01,hang=0.001",
    )
    parser.add_argument(
        "--seed", type=whole_number(0), default=0, help="seed of answers, latency and faults; default: 0"
    )
    parser.add_argument("--hints", choices=HINTS, default="openai", help="how a 429 says when to come back")
    parser.add_argument(
        "--labels",
        action="append",
        default=[],
        metavar="[PROPERTY=]FILE",
        help="labels that the models know beside the embedded benchmarks; may be given several times",
    )
    parser.add_argument(
        "--default-model", metavar="NAME", help="the simulated model behind every unknown name"
    )


def run(args: argparse.Namespace) -> int:
    """Serve until interrupted."""
    from ..simulated.server import ServeSettings, serve

    settings = ServeSettings(
        host=args.host,
        port=args.port,
        latency=args.latency,
        rpm=args.rpm,
        burst=args.burst,
        faults=args.faults,
        seed=args.seed,
        hints=args.hints,
        labels=tuple(args.labels),
        default_model=args.default_model,
    )
    serve(settings, ready=lambda url: print(f"serving {url}", flush=True))  # noqa: T201
    return 0
