#!/bin/sh
# Fails the job when the model finds a change risky: sh review.sh change.diff [flags of lathe]
set -eu
here=$(dirname "$0")
change=$1
shift
answer=$(lathe -p "Review this change. How risky is it?" --json-schema "$here/schema.json" "$@" <"$change")
echo "$answer"
case $answer in
*'"risk":"high"'*) exit 1 ;;
esac
