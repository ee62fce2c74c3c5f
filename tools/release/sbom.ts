import { SvcError } from '../svc/base/svc-error.ts';

/** The parts of a CycloneDX bill of materials that are needed here, as `npm sbom` writes it. */
export interface Bom {
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface Component {
  readonly 'bom-ref': string;
  readonly type: string;
}

/**
 * Returns the bill of materials of one app's image.
 * @param app name of the app's package
 * @param packages `name@version` of each package in the image
 * @throws SvcError if the app or a package is not in the bill of the whole repository
 */
export function selectComponents(whole: Bom, app: string, packages: readonly string[]): Bom {
  const byRef = new Map(whole.components.map((component) => [component['bom-ref'], component]));
  const root = whole.components.find(({ 'bom-ref': ref }) => ref.startsWith(`${app}@`));
  if (root === undefined) throw new SvcError(`${app} is not in the lock file`);
  const refs = [...new Set(packages)].filter((ref) => ref !== root['bom-ref']).sort();
  const missing = refs.filter((ref) => !byRef.has(ref));
  if (missing.length > 0) throw new SvcError(`not in the lock file: ${missing.join(', ')}`);
  const included = new Set([root['bom-ref'], ...refs]);
  return {
    ...whole,
    serialNumber: `urn:uuid:${crypto.randomUUID()}`,
    metadata: { ...whole.metadata, component: { ...root, type: 'container' } },
    components: refs.map((ref) => byRef.get(ref)!),
    dependencies: whole.dependencies
      .filter(({ ref }) => included.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((dependency) => included.has(dependency)) })),
  };
}
