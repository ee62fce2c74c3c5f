const READINESS_TIMEOUT_MS = 3_000;

/** The platform is ready when every app is ready: `GET /health/ready` of the administration host. */
export async function readinessOf(
  upstreams: ReadonlyMap<string, string>,
): Promise<{ ready: boolean; services: Record<string, string> }> {
  const states = await Promise.all([...upstreams].map(async ([app, url]) => [app, await stateOf(url)] as const));
  return { ready: states.every(([, state]) => state === 'ready'), services: Object.fromEntries(states) };
}

async function stateOf(url: string): Promise<string> {
  try {
    const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(READINESS_TIMEOUT_MS) });
    const body = await response.text();
    return response.status === 200 ? 'ready' : (detailOf(body) ?? 'not ready');
  } catch {
    return 'does not answer';
  }
}

function detailOf(body: string): string | undefined {
  try {
    const { detail } = JSON.parse(body) as { detail?: unknown };
    return typeof detail === 'string' ? detail : undefined;
  } catch {
    return undefined;
  }
}
