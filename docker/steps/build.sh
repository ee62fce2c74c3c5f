#!/bin/sh
# A step of an image's build: compiles every app and library, builds the payment page's script and style and the pages
# of the reference, and bundles the apps.
set -eu
cd "$(dirname "$0")/../.."
node node_modules/typescript/bin/tsc --build
node apps/hosted-gateway/browser/build.ts
node tools/reference/site.ts
node tools/bundle/bundle.ts
