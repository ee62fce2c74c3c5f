import { readJson } from '../base/files.ts';
import type { Secrets } from '../base/secrets.ts';
import { findServices } from '../platform/services.ts';
import { pathsOf, urlOf } from '../base/settings.ts';
import type { Settings } from '../base/settings.ts';
import { SvcError } from '../base/svc-error.ts';

/** The administration API of a platform, as the commands call it. */
export interface Administration {
  /** Path below `/admin/v1`. The parsed answer, undefined when it is empty. Throws SvcError for what is refused. */
  call(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<unknown>;
  /** GET of what is no JSON, as it is. Throws as {@link call}. */
  text(path: string, accept: string): Promise<string>;
}

const REQUEST_MILLISECONDS = 10_000;
/** Of an answer that is as long as a day's movements. */
const TEXT_MILLISECONDS = 600_000;

/**
 * The platform that SVC_ADMIN_URL and SVC_ADMIN_KEY name, for example a deployed one; without them the one of this folder,
 * whose key is among its secrets.
 */
export function findAdministration(settings: Settings, env: NodeJS.ProcessEnv): Administration {
  const { SVC_ADMIN_URL: url, SVC_ADMIN_KEY: key } = env;
  if (url !== undefined && url !== '') {
    if (key === undefined || key === '')
      throw new SvcError('SVC_ADMIN_URL is set: set SVC_ADMIN_KEY too', { hint: 'it is the key of that platform' });
    if (!URL.canParse(url)) throw new SvcError(`SVC_ADMIN_URL is no address: ${url}`);
    return createAdministration(url.replace(/\/$/, ''), key, 'it is the one that SVC_ADMIN_URL names');
  }
  const secrets = readJson(pathsOf(settings).secrets) as Partial<Secrets> | undefined;
  if (secrets?.adminKey === undefined)
    throw new SvcError('there is no platform here yet', { hint: './svc up makes one' });
  const running = findServices(settings);
  const hint = running === undefined ? 'nothing runs here: ./svc up starts it' : './svc status says what runs';
  return createAdministration(urlOf((running ?? settings).ports.admin), secrets.adminKey, hint);
}

/** @param hint what to do where it does not answer */
export function createAdministration(url: string, adminKey: string, hint: string): Administration {
  async function send(path: string, init: RequestInit, milliseconds = REQUEST_MILLISECONDS): Promise<string> {
    const away = (cause: unknown): never => {
      throw new SvcError(`the administration API at ${url} does not answer`, { hint, cause });
    };
    const signal = AbortSignal.timeout(milliseconds);
    const headers = { 'x-admin-key': adminKey, ...init.headers };
    const response = await fetch(`${url}/admin/v1${path}`, { ...init, headers, signal }).catch(away);
    const text = await response.text().catch(away);
    if (!response.ok) throw refusal(response, text);
    return text;
  }
  return {
    call: async (method, path, body) => {
      const json = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
      const text = await send(path, { method, ...json });
      return text === '' ? undefined : parsed(text, url, hint);
    },
    text: (path, accept) => send(path, { headers: { accept } }, TEXT_MILLISECONDS),
  };
}

function parsed(text: string, url: string, hint: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new SvcError(`what answers at ${url} is not the administration API: its answer is no JSON`, { hint, cause });
  }
}

/** What the API says is wrong, in its own words. */
function refusal(response: Response, text: string): SvcError {
  if (response.status === 401) return new SvcError('the administration key is refused');
  const said = problemsOf(text);
  if (said.length > 0) return new SvcError(`refused (${response.status}): ${said.join('; ')}`);
  return new SvcError(`the administration API answered ${response.status}`, {
    hint: `the request is ${response.headers.get('x-request-id') ?? 'unknown'} in the logs`,
  });
}

function problemsOf(text: string): string[] {
  try {
    const { errors } = JSON.parse(text) as { errors?: { message?: unknown }[] };
    return (errors ?? []).map(({ message }) => String(message));
  } catch {
    return [];
  }
}
