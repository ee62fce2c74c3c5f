import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { ModulesContainer } from '@nestjs/core';
import { appFor, type Host } from '@svc/contracts';
import { EmbeddedBroker } from '@svc/messaging';
import { startSimulatedAcquirer } from '@svc/simulated-acquirer';
import { ManualClock, startTestService, type TestService } from '@svc/testing';
import { newFront } from '../src/front.js';
import { SERVICES } from '../src/services.js';

/** What is sent; the body as JSON, or as text of another type. */
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

/** The main API as it is reached: every service that answers on it, behind the listener, under a clock that tests move. */
export interface MainApi {
  readonly clock: ManualClock;
  /** `POST /v1/payments`, as the services' own controllers have them and the route table lets them be reached. */
  readonly endpoints: readonly string[];
  call(call: Call): Promise<Answer>;
  /** As an administrator. Throws unless it is done. */
  administer(method: string, path: string, body?: object): Promise<Record<string, string>>;
  /** Hands over what happened, once. */
  tellEverybody(): Promise<void>;
  stop(): Promise<void>;
}

const ADMIN_KEY = randomBytes(32).toString('base64url');
const SEALING_KEY = createHash('sha256').update('a sealing key for tests').digest('base64url');

/** Everything that answers on the main API, and who is needed to make merchants' keys. */
const environments = (acquirerUrl: string): Readonly<Record<string, Record<string, string>>> => ({
  identity: { SVC_SEALING_KEY: SEALING_KEY },
  'webhook-dispatcher': { SVC_SEALING_KEY: SEALING_KEY, SVC_DELIVERY: 'off' },
  'payment-processor': {
    SVC_SEALING_KEY: SEALING_KEY,
    SVC_ACQUIRER_URL: acquirerUrl,
    SVC_API_URL: 'https://api.example',
    SVC_CODES_URL: 'https://pay.example',
  },
  'code-decoder': { SVC_CODES_URL: 'https://pay.example' },
  'payment-history': {},
});

export async function startMainApi(): Promise<MainApi> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-main-api-'));
  const bank = await startSimulatedAcquirer({ SVC_ACQUIRER_STORE: join(folder, 'charges.jsonl') });
  const [broker, clock] = [new EmbeddedBroker(), new ManualClock()];
  const services: TestService[] = [];
  for (const [name, env] of Object.entries(environments(bank.url))) {
    const definition = SERVICES.find((service) => service.name === name)!;
    services.push(await startTestService(definition, { broker, clock, env: { SVC_ADMIN_KEY: ADMIN_KEY, ...env } }));
  }
  const running = services.map(({ service }) => service);
  const listeners = { api: newFront('api', running), admin: newFront('admin', running) };
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
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  return {
    clock,
    endpoints: services.flatMap((service) => endpointsOf('api', service)),
    call: (one) => call('api', one),
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

/** What a service's controllers answer, where the route table hands it to this service. */
function endpointsOf(host: Host, { service }: TestService): string[] {
  const controllers = [...service.app.get(ModulesContainer).values()].flatMap((module) => [
    ...module.controllers.values(),
  ]);
  const all = controllers.flatMap(({ metatype }) => {
    const { prototype } = metatype as { prototype: object };
    const base = Reflect.getMetadata(PATH_METADATA, metatype as object) as string;
    return Object.getOwnPropertyNames(prototype).flatMap((name) => {
      const handler = (prototype as Record<string, unknown>)[name] as object;
      const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
      if (method === undefined) return [];
      const own = Reflect.getMetadata(PATH_METADATA, handler) as string;
      return [`${RequestMethod[method]} /${[base, own].flatMap((part) => part.split('/').filter(Boolean)).join('/')}`];
    });
  });
  const isReached = (endpoint: string): boolean => {
    const [method, path] = endpoint.split(' ') as [string, string];
    return appFor(host, path.replaceAll(/:\w+|\*/g, 'x'), method) === service.name;
  };
  return [...new Set(all)].filter(isReached).sort();
}
