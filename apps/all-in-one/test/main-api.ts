import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { ModulesContainer } from '@nestjs/core';
import { appFor, type Host, SessionCreatedV1 } from '@svc/contracts';
import { EmbeddedBroker } from '@svc/messaging';
import { startSimulatedAcquirer } from '@svc/simulated-acquirer';
import { ManualClock, startTestService, type TestService } from '@svc/testing';
import { newFront } from '../src/front.js';
import { SERVICES } from '../src/services.js';

/** A request; the body is sent as JSON, or as text of another type. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object | string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** The main API with all of its services behind the listener, and a manual clock. */
export interface MainApi {
  readonly clock: ManualClock;
  /** @throws Error if the service was not started */
  service(name: string): TestService;
  /** Endpoints such as `POST /v1/payments`, from the controllers of the services, that the route table exposes. */
  readonly endpoints: readonly string[];
  /** Endpoints of the hosted gateway; empty if it was not started. */
  readonly hostedEndpoints: readonly string[];
  /** Endpoints of the administration API. */
  readonly adminEndpoints: readonly string[];
  /** Calls the main API. The text of an event stream is left out. */
  call(call: Call): Promise<Answer>;
  /** Calls the hosted gateway. */
  callHosted(call: Call): Promise<Answer>;
  /** Calls the administration API with exactly these headers. */
  callAdmin(call: Call): Promise<Answer>;
  /** Digits of the QR code that the page of a session shows. */
  codeOf(sessionId: string): Promise<string>;
  /** Calls the administration API as an administrator. Throws unless the call succeeds. */
  administer(method: string, path: string, body?: object): Promise<Record<string, string>>;
  /** Relays the events of all services once. */
  tellEverybody(): Promise<void>;
  stop(): Promise<void>;
}

export const ADMIN_KEY = randomBytes(32).toString('base64url');
const SEALING_KEY = createHash('sha256').update('a sealing key for tests').digest('base64url');

/** Environment of each service of the main API, and of the service that creates merchants' keys. */
const environments = (acquirerUrl: string): Readonly<Record<string, Record<string, string>>> => ({
  identity: { SVC_SEALING_KEY: SEALING_KEY },
  'webhook-dispatcher': { SVC_SEALING_KEY: SEALING_KEY, SVC_DELIVERY: 'off' },
  'payment-processor': {
    SVC_SEALING_KEY: SEALING_KEY,
    SVC_ACQUIRER_URL: acquirerUrl,
    // Some callers use live mode.
    SVC_ACQUIRER_LIVE: 'simulated',
    SVC_API_URL: 'https://api.example',
    SVC_CODES_URL: 'https://pay.example',
  },
  'code-decoder': { SVC_CODES_URL: 'https://pay.example' },
  'payment-history': {},
  // The tests exceed the rate limit of a key.
  'merchant-retrieval': { SVC_RETRIEVAL_BURST: '100000', SVC_STREAM_READERS_PER_KEY: '100' },
});

/** The tests exceed the rate limit of an address. */
const HOSTED_GATEWAY = {
  'hosted-gateway': {
    SVC_GATEWAY_URL: 'https://pay.example',
    SVC_CODES_URL: 'https://pay.example',
    SVC_ACQUIRER_LIVE: 'simulated',
    SVC_KEYLESS_CALLS_PER_MINUTE: '100000',
    SVC_DELIVERIES_CALLS_PER_MINUTE: '100000',
    SVC_PAYMENTS_PER_MINUTE: '100000',
  },
};

export async function startMainApi({ hostedGateway = false } = {}): Promise<MainApi> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-main-api-'));
  const [broker, clock] = [new EmbeddedBroker(), new ManualClock()];
  const bank = await startSimulatedAcquirer(
    { SVC_ACQUIRER_STORE: join(folder, 'charges.jsonl'), SVC_ACQUIRER_LIVE: 'simulated' },
    () => clock.now(),
  );
  const services: TestService[] = [];
  const wanted = { ...environments(bank.url), ...(hostedGateway ? HOSTED_GATEWAY : {}) };
  for (const [name, env] of Object.entries(wanted)) {
    const definition = SERVICES.find((service) => service.name === name)!;
    services.push(await startTestService(definition, { broker, clock, env: { SVC_ADMIN_KEY: ADMIN_KEY, ...env } }));
  }
  const running = services.map(({ service }) => service);
  const listeners = {
    api: newFront('api', running),
    admin: newFront('admin', running),
    gateway: newFront('gateway', running),
  };
  for (const listener of Object.values(listeners)) {
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
  }
  const call = async (host: keyof typeof listeners, { method, path, headers = {}, body }: Call): Promise<Answer> => {
    const { port } = listeners[host].address() as AddressInfo;
    const json = typeof body === 'object' ? { 'content-type': 'application/json' } : {};
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { ...json, ...headers },
      redirect: 'manual',
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    if (answer.headers.get('content-type')?.startsWith('text/event-stream')) {
      await answer.body?.cancel();
      return { status: answer.status, headers: answer.headers, text: '' };
    }
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  return {
    clock,
    service: (name) => {
      const found = services.find(({ service }) => service.name === name);
      if (!found) throw new Error(`${name} was not started.`);
      return found;
    },
    endpoints: services.flatMap((service) => endpointsOf('api', service)),
    hostedEndpoints: services.flatMap((service) => endpointsOf('gateway', service)),
    adminEndpoints: services.flatMap((service) => endpointsOf('admin', service)),
    call: (one) => call('api', one),
    callHosted: (one) => call('gateway', one),
    callAdmin: (one) => call('admin', one),
    codeOf: async (sessionId) => {
      const gateway = services.find(({ service }) => service.name === 'hosted-gateway');
      const created = (await gateway?.published(SessionCreatedV1))?.find((event) => event.aggregateId === sessionId);
      const code = created?.payload.payable.source.code;
      if (code === undefined) throw new Error('There is no such session.');
      return code;
    },
    administer: async (method, path, body) => {
      const headers = { 'x-admin-key': ADMIN_KEY };
      const answer = await call('admin', { method, path: `/admin/v1${path}`, headers, ...(body ? { body } : {}) });
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
      return (answer.text === '' ? {} : JSON.parse(answer.text)) as Record<string, string>;
    },
    tellEverybody: async () => {
      for (const service of services) await service.relay();
    },
    stop: async () => {
      for (const listener of Object.values(listeners)) {
        listener.closeAllConnections();
        await new Promise((resolve) => listener.close(resolve));
      }
      for (const service of services) await service.stop();
      await bank.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Endpoints of a service's controllers that the route table forwards to this service. */
function endpointsOf(host: Host, { service }: TestService): string[] {
  const controllers = [...service.app.get(ModulesContainer).values()].flatMap((module) => [
    ...module.controllers.values(),
  ]);
  const all = controllers.flatMap(({ metatype }) => {
    const { prototype } = metatype as { prototype: object };
    const bases = pathsOf(metatype as object);
    return Object.getOwnPropertyNames(prototype).flatMap((name) => {
      const handler = (prototype as Record<string, unknown>)[name] as object;
      const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
      if (method === undefined) return [];
      return bases.flatMap((base) =>
        pathsOf(handler).map((own) => {
          const parts = [base, own].flatMap((path) => path.split('/').filter(Boolean));
          return `${RequestMethod[method]} /${parts.join('/')}`;
        }),
      );
    });
  });
  const isReached = (endpoint: string): boolean => {
    const [method, path] = endpoint.split(' ') as [string, string];
    return appFor(host, path.replaceAll(/:\w+|\*/g, 'x'), method) === service.name;
  };
  return [...new Set(all)].filter(isReached).sort();
}

/** The paths of a controller or of a method. */
function pathsOf(target: object): string[] {
  const paths = Reflect.getMetadata(PATH_METADATA, target) as string | string[];
  return Array.isArray(paths) ? paths : [paths];
}
