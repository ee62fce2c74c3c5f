/** The Secrets of all apps from a secret store, by the External Secrets Operator (components/external-secrets). */
import type { IExternalSecret } from '@kubernetes-models/external-secrets/external-secrets.io/v1';
import { createLabels, type DeployedApp } from '../apps.ts';
import { ownerSecretName } from '../migration-job.ts';

/** Name of the ClusterSecretStore that the platform team defines, for example of Vault or of a cloud's secret manager. */
const STORE = 'svc-payments';

export const ADYEN_SECRET = 'payment-processor-adyen';

/** Creates an ExternalSecret for each Secret with these apps. The key in the store is `svc-payments/<Secret>`. */
export function createExternalSecrets(apps: readonly DeployedApp[]): IExternalSecret[] {
  return apps.flatMap(({ name, component, schema, secrets }) => [
    ...(secrets.length === 0 ? [] : [createExternalSecret(name, component, secrets)]),
    ...(schema === undefined ? [] : [createExternalSecret(ownerSecretName(name), 'migrations', ['SVC_DATABASE_URL'])]),
  ]);
}

/** Copies only the keys that the app needs. Without a list, all keys are copied. */
export function createExternalSecret(name: string, component: string, keys?: readonly string[]): IExternalSecret {
  const key = `svc-payments/${name}`;
  return {
    apiVersion: 'external-secrets.io/v1',
    kind: 'ExternalSecret',
    metadata: { name, labels: createLabels(name, component) },
    spec: {
      refreshInterval: '1h0m0s',
      secretStoreRef: { kind: 'ClusterSecretStore', name: STORE },
      target: { name, creationPolicy: 'Owner' },
      ...(keys === undefined
        ? { dataFrom: [{ extract: { key } }] }
        : { data: keys.map((property) => ({ secretKey: property, remoteRef: { key, property } })) }),
    },
  };
}
