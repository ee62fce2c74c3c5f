#!/bin/sh
# A step of an image: packages.sh FOLDER fills a folder with the packages that the apps run on, all apps in one go, so
# that it is done once for all images. Nothing that only development needs is among them; what one app does not need is
# left behind by tree.ts. No package's install script is run: nothing needs one at run time.
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
