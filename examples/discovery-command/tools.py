"""Tools for Lathe: `--list` declares them; `--call NAME` runs one, with its arguments as JSON on stdin."""

import json
import statistics
import sys


def describe(numbers):
    return f"mean {statistics.mean(numbers):g}, median {statistics.median(numbers):g}"


FUNCTIONS = {"describe_numbers": describe}

DECLARATIONS = [
    {
        "name": "describe_numbers",
        "description": "Returns the mean and the median of some numbers.",
        "parameters": {
            "type": "object",
            "properties": {"numbers": {"type": "array", "items": {"type": "number"}, "minItems": 1}},
            "required": ["numbers"],
        },
    }
]

if sys.argv[1:] == ["--list"]:
    print(json.dumps(DECLARATIONS))
elif sys.argv[1:2] == ["--call"]:
    print(FUNCTIONS[sys.argv[2]](**json.load(sys.stdin)))
else:
    sys.exit("usage: tools.py --list | --call NAME")
