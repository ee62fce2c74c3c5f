/**
 * Reads the settings of each deployed app from rendered manifests or from compose.yaml into the same data structure.
 */
import type { IDeployment } from 'kubernetes-models/apps/v1';
import type { IJob } from 'kubernetes-models/batch/v1';
import type { IContainer, IService } from 'kubernetes-models/v1';
import { ownerSecretName } from '../migration-job.ts';
import { PLAUSIBLE_SECRETS } from './plausible-environment.ts';

export interface Deployment {
  readonly target: 'Kubernetes' | 'compose';
  readonly apps: readonly AppDeployment[];
}

export interface AppDeployment {
  readonly name: string;
  /** The app whose image runs. */
  readonly image: string;
  /** Environment variables, without those of the image. Secrets have plausible values. */
  readonly env: Readonly<Record<string, string>>;
  /** Variables whose values are in a Secret or in compose's environment, and not in the repository. */
  readonly secretVariables: readonly string[];
  /** Port to which the reverse proxy or other apps connect. Undefined if the deployment contains no such connection. */
  readonly port?: number;
  readonly health?: { readonly live: string; readonly ready: string };
  /** Variables of the migration step. Undefined if the app has none. */
  readonly migration?: Readonly<Record<string, string>>;
}

export interface RenderedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

export function readKubernetes(objects: readonly RenderedObject[]): Deployment {
  const objectsOfKind = <T extends object>(kind: string): T[] =>
    objects.filter((object) => object.kind === kind) as unknown as T[];
  const jobs = objectsOfKind<IJob>('Job').flatMap((job) => job.spec?.template.spec?.containers ?? []);
  const apps = objectsOfKind<IDeployment>('Deployment').map((deployment): AppDeployment => {
    const name = deployment.metadata?.name ?? '';
    const pod = deployment.spec?.template.spec;
    const container = pod?.containers[0];
    if (container === undefined) throw new Error(`${name} has no container`);
    const service = objectsOfKind<IService>('Service').find(({ metadata }) => metadata?.name === name);
    const migration = [...jobs, ...(pod?.initContainers ?? [])].find(
      ({ image, args }) => image === container.image && args?.[0] === 'migrate',
    );
    return {
      name,
      image: parseAppOfImage(container.image),
      env: readEnvironment(container, name),
      secretVariables: (container.env ?? []).flatMap(({ name: variable, valueFrom }) =>
        valueFrom?.secretKeyRef ? [variable] : [],
      ),
      ...readPort(container, service),
      health: {
        live: container.livenessProbe?.httpGet?.path ?? '',
        ready: container.readinessProbe?.httpGet?.path ?? '',
      },
      ...(migration === undefined ? {} : { migration: readEnvironment(migration, ownerSecretName(name)) }),
    };
  });
  return { target: 'Kubernetes', apps };
}

/** Reads the port of the Service. Returns -1 unless the Service forwards to the same port of the container. */
function readPort(container: IContainer, service: IService | undefined): { port?: number } {
  const port = container.ports?.find(({ name }) => name === service?.spec?.ports?.[0]?.targetPort)?.containerPort;
  return port === undefined || port !== service?.spec?.ports?.[0]?.port ? { port: -1 } : { port };
}

/**
 * Reads the variables of a container. A variable from a wrong Secret or a wrong key has no value, so it counts as
 * missing.
 */
function readEnvironment(container: IContainer, secret: string): Record<string, string> {
  const pairs = (container.env ?? []).flatMap(({ name, value, valueFrom }) => {
    const ref = valueFrom?.secretKeyRef;
    const resolved = ref
      ? ref.name === secret && ref.key === name
        ? (PLAUSIBLE_SECRETS[name] ?? '')
        : ''
      : (value ?? '');
    return resolved === '' ? [] : [[name, resolved] as const];
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

/**
 * Reads the services that compose builds from this repository. The migrations of an app are the service
 * `<app>-migrate`.
 */
export function readCompose(compose: Compose, caddyfile: string): Deployment {
  const upstreams = [...caddyfile.matchAll(/reverse_proxy ([\w-]+):(\d+)/g)];
  const builtServices = Object.entries(compose.services).filter(([, service]) => service.build !== undefined);
  const apps = builtServices
    .filter(([, { command }]) => command?.[0] !== 'migrate')
    .map(([name, service]): AppDeployment => {
      const migration = compose.services[`${name}-migrate`];
      const port = upstreams.find(([, upstream]) => upstream === name)?.[2];
      return {
        name,
        image: service.build?.args?.APP ?? '',
        env: interpolateVariables(service.environment ?? {}),
        ...(port === undefined ? {} : { port: Number(port) }),
        secretVariables: Object.entries(service.environment ?? {}).flatMap(([variable, value]) =>
          value.includes('${') ? [variable] : [],
        ),
        ...(migration?.command?.[0] === 'migrate' && migration.build?.args?.APP === name
          ? { migration: interpolateVariables(migration.environment ?? {}) }
          : {}),
      };
    });
  return { target: 'compose', apps };
}

/**
 * Replaces `${NAME:?message}` as compose does, by 43 characters of base64url, the format of every secret
 * (docker/secrets.ts).
 */
function interpolateVariables(environment: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, value.replace(/\$\{[^}]+\}/g, 'A'.repeat(43))]),
  );
}

function parseAppOfImage(image: string | undefined): string {
  return /(?:^|\/)svc\/([a-z-]+)(?::|$)/.exec(image ?? '')?.[1] ?? '';
}
