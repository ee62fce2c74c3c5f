#!/bin/sh
# A step of an image's build: manifests.sh FOLDER copies the files that decide which packages are installed: each package.json,
# the lock file and npm's settings; and the step that installs the packages of the images.
set -eu
folder=$1
cd "$(dirname "$0")/../.."
for file in package.json package-lock.json .npmrc apps/*/package.json libs/*/package.json examples/*/package.json \
  bench/package.json e2e/package.json tools/generators/package.json docker/steps/manifests.sh docker/steps/packages.sh; do
  mkdir -p "$folder/$(dirname "$file")"
  cp "$file" "$folder/$file"
done
