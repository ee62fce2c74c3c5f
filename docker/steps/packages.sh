#!/bin/sh
# A step of an image's build: packages.sh FOLDER installs the packages that the apps need at run time, once for all
# images, without development packages. tree.ts omits the packages that an app does not need. No install scripts run,
# because no package needs one at run time. FOLDER/sbom.cdx.json is the bill of materials of the whole lock file.
set -eu
folder=$1
cd "$(dirname "$0")/../.."
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
docker/steps/manifests.sh "$folder"
npm sbom --sbom-format=cyclonedx --package-lock-only >"$folder/sbom.cdx.json"
set --
for app in apps/*/; do set -- "$@" --workspace "$app"; done
cd "$folder"
npm ci --omit=dev --ignore-scripts --prefer-offline --no-audit --no-fund --include-workspace-root=false "$@"
