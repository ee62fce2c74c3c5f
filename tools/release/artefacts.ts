/** Builds the files of a release. Each function writes into the folder of the release and returns a summary. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DEPLOYED_APPS } from '../../deploy/apps.ts';
import { findRenderers } from '../../deploy/checks/render.ts';
import { findImagePackages, readPackageId } from '../../docker/steps/image-packages.ts';
import { type Bom, selectComponents } from './sbom.ts';

type Run = (name: string, command: readonly [string, ...string[]]) => Promise<string>;

/** The overlays that an installation applies, in this order. */
const OVERLAYS = ['gateway', 'migrations', 'platform'];
/** This app runs in a store, and is not deployed with the other apps. */
const IMAGES = [...DEPLOYED_APPS.map(({ name }) => name), 'pos-transformer'];

export async function buildSdk(run: Run, folder: string): Promise<string> {
  const path = await run('sdk', ['node', 'tools/sdk-package/pack.ts', folder]);
  rmSync(join(folder, 'sdk-package'), { recursive: true });
  return basename(path);
}

/**
 * Writes CycloneDX bills of materials into `sbom`: one of the whole lock file, and one for each image with the packages
 * in it. The base image has a bill of its own, from its publisher.
 */
export async function buildBillsOfMaterials(run: Run, root: string, folder: string): Promise<string> {
  const packages = join(root, '.data/release-packages');
  await run('programs', ['docker/steps/build.sh']);
  await run('packages', ['docker/steps/packages.sh', packages]);
  const whole = JSON.parse(readFileSync(join(packages, 'sbom.cdx.json'), 'utf8')) as Bom;
  mkdirSync(join(folder, 'sbom'));
  writeBom(join(folder, 'sbom/svc-payments.cdx.json'), whole);
  for (const app of IMAGES) {
    const bom = selectComponents(whole, `@svc/${app}`, findImagePackages(app, packages).map(readPackageId));
    writeBom(join(folder, `sbom/${app}.cdx.json`), bom);
  }
  return `CycloneDX ${whole.specVersion}: ${whole.components.length} packages, ${IMAGES.length} images`;
}

/** Renders the production overlay with the image tags of the release. */
export function buildManifests(root: string, folder: string): string {
  const [renderer] = findRenderers();
  mkdirSync(join(folder, 'manifests'));
  for (const overlay of OVERLAYS) {
    const source = join(root, 'deploy/overlays/production', overlay);
    const text = execFileSync(renderer!.file, [...renderer!.args, source], { encoding: 'utf8', maxBuffer: 1e7 });
    writeFileSync(join(folder, 'manifests', `${overlay}.yaml`), text);
  }
  return OVERLAYS.map((overlay) => `manifests/${overlay}.yaml`).join(', ');
}

function writeBom(file: string, bom: Bom): void {
  writeFileSync(file, `${JSON.stringify(bom, null, 2)}\n`);
}
