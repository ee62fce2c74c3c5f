const READINESS_TIMEOUT_MS = 3_000;

/**
 * Queries every app. The platform is ready when every app is ready (`GET /health/ready` of the administration host).
 */
export async function checkReadiness(
  upstreams: ReadonlyMap<string, string>,
): Promise<{ ready: boolean; services: Record<string, string> }> {
  const states = await Promise.all([...upstreams].map(async ([app, url]) => [app, await checkApp(url)] as const));
  return { ready: states.every(([, state]) => state === 'ready'), services: Object.fromEntries(states) };
}

/** 'ready', or the reason why the app is not ready. */
async function checkApp(url: string): Promise<string> {
  try {
    const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(READINESS_TIMEOUT_MS) });
    const body = await response.text();
    return response.status === 200 ? 'ready' : (readDetail(body) ?? 'not ready');
  } catch {
    return 'does not answer';
  }
}

function readDetail(body: string): string | undefined {
  try {
    const { detail } = JSON.parse(body) as { detail?: unknown };
    return typeof detail === 'string' ? detail : undefined;
  } catch {
    return undefined;
  }
}
