/** Settings that the pods of all apps and of the migrations share. */
import type { IContainer, IPodSecurityContext, IServiceAccount } from 'kubernetes-models/v1';
import { createLabels, maxOldSpaceMi, type Resources } from './apps.ts';

/** User id of the image. It is not root. */
const USER_ID = 65_532;

export const podSecurity: IPodSecurityContext = {
  runAsNonRoot: true,
  runAsUser: USER_ID,
  runAsGroup: USER_ID,
  fsGroup: USER_ID,
  seccompProfile: { type: 'RuntimeDefault' },
};

export const containerSecurity = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

export function createServiceAccount(name: string, component: string): IServiceAccount {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, labels: createLabels(name, component) },
    // No app uses the Kubernetes API.
    automountServiceAccountToken: false,
  };
}

/** Name of an app's image. An overlay replaces it by registry, repository and tag (`images`). */
export function imageName(app: string): string {
  return `svc/${app}`;
}

export function secretVariable(secret: string, name: string): NonNullable<IContainer['env']>[number] {
  return { name, valueFrom: { secretKeyRef: { name: secret, key: name } } };
}

/** The variable that limits the heap of Node.js, below the memory limit of the container. */
export function heapLimit(resources: Resources): NonNullable<IContainer['env']>[number] {
  return { name: 'NODE_OPTIONS', value: `--max-old-space-size=${maxOldSpaceMi(resources)}` };
}

export function toContainerResources({ cpuMillis, memoryMi }: Resources): NonNullable<IContainer['resources']> {
  const memory = `${memoryMi}Mi`;
  return { requests: { cpu: `${cpuMillis}m`, memory }, limits: { memory } };
}
