/** Creates the Job that migrates the schemas of all apps before their rollout. */
import type { IJob } from 'kubernetes-models/batch/v1';
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import type { IContainer, IServiceAccount } from 'kubernetes-models/v1';
import { createLabels, type DeployedApp, type Resources } from './apps.ts';
import { createNetworkPolicy } from './network-policies.ts';
import {
  containerSecurity,
  createServiceAccount,
  heapLimit,
  imageName,
  podSecurity,
  secretVariable,
  toContainerResources,
} from './pods.ts';

export const MIGRATION_JOB = 'svc-migrations';

/**
 * Time after which the Job fails, in seconds. It is longer than the timeout of a statement of a migration
 * (MIGRATION_LIMITS_MS in libs/persistence), so that the log has the reason. release.sh waits longer than this.
 */
export const MIGRATION_DEADLINE_SECONDS = 30 * 60;

/** Further runs after a failed one, for example because a lock was not free within 5 s. The pauses are 10 s, 20 s, 40 s … */
const MAX_RETRIES = 5;

const RESOURCES: Resources = { cpuMillis: 50, memoryMi: 256 };

/** Name of the Secret with the database URL of the schema's owner. Only migrations get it, not the app. */
export function ownerSecretName(app: string): string {
  return `${app}-owner`;
}

/**
 * A container that migrates one schema. It uses the app's image, and gets only the database URL of the schema's owner.
 */
export function createMigrationContainer(app: DeployedApp, name: string): IContainer {
  return {
    name,
    image: imageName(app.name),
    args: ['migrate'],
    env: [secretVariable(ownerSecretName(app.name), 'SVC_DATABASE_URL'), heapLimit(RESOURCES)],
    resources: toContainerResources(RESOURCES),
    // The status of a failed pod then has the last lines of the log, and so the reason.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
    securityContext: containerSecurity,
  };
}

/** Creates a Job with a container for each schema. The containers are independent, and each can be run again. */
export function createMigrationJob(apps: readonly DeployedApp[]): (IServiceAccount | INetworkPolicy | IJob)[] {
  const labels = createLabels(MIGRATION_JOB, 'migrations');
  return [
    createServiceAccount(MIGRATION_JOB, 'migrations'),
    createNetworkPolicy({ name: MIGRATION_JOB, component: 'migrations', connectsTo: ['postgresql'] }, []),
    {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: MIGRATION_JOB, labels },
      spec: {
        backoffLimit: MAX_RETRIES,
        activeDeadlineSeconds: MIGRATION_DEADLINE_SECONDS,
        template: {
          metadata: { labels },
          spec: {
            // Failed pods and their logs are kept. With `OnFailure`, Kubernetes would delete the pod of a failed Job.
            restartPolicy: 'Never',
            serviceAccountName: MIGRATION_JOB,
            automountServiceAccountToken: false,
            enableServiceLinks: false,
            securityContext: podSecurity,
            containers: apps.map((app) => createMigrationContainer(app, app.name)),
            volumes: [{ name: 'tmp', emptyDir: { sizeLimit: '64Mi' } }],
          },
        },
      },
    },
  ];
}
