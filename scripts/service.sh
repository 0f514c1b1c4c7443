#!/bin/sh
# Runs all tests of the service of jobs in their whole form: 5,000 generated requests, many kills, crowded rooms, 1,000 jobs over 10 nodes,
# nodes, databases and a store that are lost; then those of jobs once more with PostgreSQL and S3. Takes about 40 minutes on two processors.
# `make test` runs the same tests in a short form.
#
# Usage: scripts/service.sh [NAME]     only the scenarios with a matching name
#
# The whole form is chosen by CHATBOT_SERVICE_TESTS=whole, which scripts/test.sh sets.
set -eu
cd "$(dirname "$0")/.."
exec scripts/test.sh service "$@"
