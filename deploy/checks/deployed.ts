/** Reads the settings of each deployed app from rendered manifests and from compose.yaml into one form. */
import type { IDeployment } from 'kubernetes-models/apps/v1';
import type { IJob } from 'kubernetes-models/batch/v1';
import type { IContainer, IService } from 'kubernetes-models/v1';
import { ownerSecretOf } from '../kubernetes.ts';
import { PLAUSIBLE_SECRETS } from './plausible-environment.ts';

export interface DeployedFacts {
  readonly where: 'Kubernetes' | 'compose';
  readonly apps: readonly AppDeployed[];
}

export interface AppDeployed {
  readonly name: string;
  /** The app whose image runs. */
  readonly image: string;
  /** Its environment besides the image's own variables; secrets as plausible values. */
  readonly env: Readonly<Record<string, string>>;
  /** Variables with a value from a Secret or from compose's environment, not from the repository. */
  readonly fromSecrets: readonly string[];
  /** Port that others connect to; undefined if no other app does so by a port in the deployment. */
  readonly port?: number;
  readonly health?: { readonly live: string; readonly ready: string };
  /** The variables of its migration step; undefined if there is none. */
  readonly migration?: Readonly<Record<string, string>>;
}

export interface AnyObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

export function kubernetesFacts(objects: readonly AnyObject[]): DeployedFacts {
  const all = <T extends object>(kind: string): T[] =>
    objects.filter((object) => object.kind === kind) as unknown as T[];
  const jobs = all<IJob>('Job').flatMap((job) => job.spec?.template.spec?.containers ?? []);
  const apps = all<IDeployment>('Deployment').map((deployment): AppDeployed => {
    const name = deployment.metadata?.name ?? '';
    const pod = deployment.spec?.template.spec;
    const container = pod?.containers[0];
    if (container === undefined) throw new Error(`${name} has no container`);
    const service = all<IService>('Service').find(({ metadata }) => metadata?.name === name);
    const migration = [...jobs, ...(pod?.initContainers ?? [])].find(
      ({ image, args }) => image === container.image && args?.[0] === 'migrate',
    );
    return {
      name,
      image: appOfImage(container.image),
      env: environmentOf(container, name),
      fromSecrets: (container.env ?? []).flatMap((one) => (one.valueFrom?.secretKeyRef ? [one.name] : [])),
      ...portOf(container, service),
      health: {
        live: container.livenessProbe?.httpGet?.path ?? '',
        ready: container.readinessProbe?.httpGet?.path ?? '',
      },
      ...(migration === undefined ? {} : { migration: environmentOf(migration, ownerSecretOf(name)) }),
    };
  });
  return { where: 'Kubernetes', apps };
}

/** A Service's port, if it leads to the container's; both must be equal. */
function portOf(container: IContainer, service: IService | undefined): { port?: number } {
  const port = container.ports?.find(({ name }) => name === service?.spec?.ports?.[0]?.targetPort)?.containerPort;
  return port === undefined || port !== service?.spec?.ports?.[0]?.port ? { port: -1 } : { port };
}

/** Another Secret, or another key in it, gives no value: the variable then counts as missing. */
function environmentOf(container: IContainer, secret: string): Record<string, string> {
  const pairs = (container.env ?? []).flatMap(({ name, value, valueFrom }) => {
    const ref = valueFrom?.secretKeyRef;
    const given = ref
      ? ref.name === secret && ref.key === name
        ? (PLAUSIBLE_SECRETS[name] ?? '')
        : ''
      : (value ?? '');
    return given === '' ? [] : [[name, given] as const];
  });
  return Object.fromEntries(pairs);
}

interface ComposeService {
  readonly image: string;
  readonly command?: readonly string[];
  readonly build?: { readonly args?: { readonly APP?: string } };
  readonly environment?: Readonly<Record<string, string>>;
}

export interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
}

/** Services that are built from this repository; migrations are named `<app>-migrate`. */
export function composeFacts(compose: Compose, caddyfile: string): DeployedFacts {
  const upstreams = [...caddyfile.matchAll(/reverse_proxy ([\w-]+):(\d+)/g)];
  const built = Object.entries(compose.services).filter(([, service]) => service.build !== undefined);
  const apps = built
    .filter(([, { command }]) => command?.[0] !== 'migrate')
    .map(([name, service]): AppDeployed => {
      const migration = compose.services[`${name}-migrate`];
      const port = upstreams.find(([, upstream]) => upstream === name)?.[2];
      return {
        name,
        image: service.build?.args?.APP ?? '',
        env: interpolated(service.environment ?? {}),
        ...(port === undefined ? {} : { port: Number(port) }),
        fromSecrets: Object.entries(service.environment ?? {}).flatMap(([variable, value]) =>
          value.includes('${') ? [variable] : [],
        ),
        ...(migration?.command?.[0] === 'migrate' && migration.build?.args?.APP === name
          ? { migration: interpolated(migration.environment ?? {}) }
          : {}),
      };
    });
  return { where: 'compose', apps };
}

/** Replaces ${NAME:?why} like compose; every secret is 43 characters of base64url (docker/secrets.ts). */
function interpolated(environment: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, value.replace(/\$\{[^}]+\}/g, 'A'.repeat(43))]),
  );
}

function appOfImage(image: string | undefined): string {
  return /(?:^|\/)svc\/([a-z-]+)(?::|$)/.exec(image ?? '')?.[1] ?? '';
}
