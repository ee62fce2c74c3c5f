/** Patches that mount the certificates of private authorities into all containers (components/private-ca). */

interface JsonPatchOperation {
  readonly op: 'add';
  readonly path: string;
  readonly value: object;
}

export const CA_FILE = '/etc/svc/private-ca/ca.crt';

/** The operations for a pod with this number of containers, such as `/spec/template/spec/containers/0/env/-`. */
export function createPrivateCaPatch(
  containers: number,
  list: 'containers' | 'initContainers' = 'containers',
): JsonPatchOperation[] {
  return Array.from({ length: containers }, (_, index) => `/spec/template/spec/${list}/${index}`).flatMap((path) => [
    { op: 'add', path: `${path}/env/-`, value: { name: 'NODE_EXTRA_CA_CERTS', value: CA_FILE } },
    {
      op: 'add',
      path: `${path}/volumeMounts/-`,
      value: { name: 'private-ca', mountPath: CA_FILE.replace(/\/[^/]+$/, ''), readOnly: true },
    },
  ]);
}

export function createPrivateCaVolumePatch(): JsonPatchOperation[] {
  return [
    {
      op: 'add',
      path: '/spec/template/spec/volumes/-',
      value: { name: 'private-ca', configMap: { name: 'private-ca' } },
    },
  ];
}
