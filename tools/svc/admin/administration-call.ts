import { SvcError } from '../svc-error.ts';

/** One call of the administration API: path below `/admin/v1`. Answers the parsed body; throws `SvcError` with what was said. */
export type AdministrationCall = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) => Promise<unknown>;

const CALL_MILLISECONDS = 30_000;

export function createAdministrationCall(url: string, adminKey: string): AdministrationCall {
  return async (method, path, body) => {
    const address = `${url}/admin/v1${path}`;
    let response: Response;
    let text: string;
    try {
      response = await fetch(address, {
        method,
        headers: { 'x-admin-key': adminKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(CALL_MILLISECONDS),
      });
      text = await response.text();
    } catch (cause) {
      throw new SvcError(`${url} does not answer`, { hint: './svc status says what runs', cause });
    }
    if (!response.ok) throw new SvcError(`${method} ${path}: ${refusalOf(response.status, text)}`);
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  };
}

/** The words of an error of the API (RFC 9457), each field with its own. */
function refusalOf(status: number, text: string): string {
  if (status === 401) return '401, the administration key is not the one of this platform';
  try {
    const problem = JSON.parse(text) as {
      title?: string;
      detail?: string;
      errors?: { field?: string; message?: string }[];
    };
    const fields = (problem.errors ?? []).map(({ field, message }) => (message === undefined ? field : message));
    return [String(status), problem.detail ?? problem.title, ...fields].filter((part) => part !== undefined).join(', ');
  } catch {
    return `${status} ${text.slice(0, 200)}`;
  }
}
