#!/bin/sh
# A step of an image's build: packages.sh FOLDER installs the packages that the apps need at run time, once for all
# images, without development packages. tree.ts omits the packages that an app does not need. No install scripts run,
# because no package needs one at run time.
set -eu
folder=$1
cd "$(dirname "$0")/../.."
mkdir -p "$folder"
for manifest in package.json package-lock.json .npmrc apps/*/package.json libs/*/package.json e2e/package.json; do
  mkdir -p "$folder/$(dirname "$manifest")"
  cp "$manifest" "$folder/$manifest"
done
set --
for app in apps/*/; do set -- "$@" --workspace "$app"; done
cd "$folder"
npm ci --omit=dev --ignore-scripts --prefer-offline --no-audit --no-fund --include-workspace-root=false "$@"
