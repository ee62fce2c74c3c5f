import { setTimeout as pause } from 'node:timers/promises';
import { SvcError } from './svc-error.ts';

/** The administration API of a platform. */
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
 * @param hint what to do where it does not answer
 * @param options.patience by how much the time for an answer is multiplied
 * @param options.notReadySeconds how long a 503 is repeated: a service may still wait for what another one sends it
 */
export function createAdministration(
  url: string,
  adminKey: string,
  hint: string,
  { patience = 1, notReadySeconds = 0 } = {},
): Administration {
  async function send(path: string, init: RequestInit, milliseconds = REQUEST_MILLISECONDS): Promise<string> {
    const unavailable = (cause: unknown): never => {
      throw new SvcError(`the administration API at ${url} does not answer`, { hint, cause });
    };
    const headers = { 'x-admin-key': adminKey, ...init.headers };
    const deadline = performance.now() + notReadySeconds * 1000;
    for (;;) {
      const signal = AbortSignal.timeout(milliseconds * patience);
      const response = await fetch(`${url}/admin/v1${path}`, { ...init, headers, signal }).catch(unavailable);
      const text = await response.text().catch(unavailable);
      if (response.ok) return text;
      if (response.status !== 503 || performance.now() >= deadline) throw refusal(response, text);
      await pause(250);
    }
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

/** More pages than this are not for a terminal. */
const PAGES_MAX = 200;

/** All entries of a list that comes in pages. */
export async function readList(api: Administration, list: string, first: string | number): Promise<unknown[]> {
  const entries: unknown[] = [];
  let after: string | number | undefined = first;
  for (let page = 0; page < PAGES_MAX && after !== undefined; page++) {
    const answer = (await api.call('GET', `/${list}?after=${after}`)) as Record<string, unknown>;
    entries.push(...(answer[list] as unknown[]));
    after = answer['nextAfter'] as typeof after;
  }
  return entries;
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
  const problems = problemsOf(text);
  if (problems.length > 0) return new SvcError(`refused (${response.status}): ${problems.join('; ')}`);
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
