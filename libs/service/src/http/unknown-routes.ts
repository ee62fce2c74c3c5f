/**
 * Explains a request whose path or method no service has: names the methods of the path, the host that has the path, or
 * a similar path. The explanation contains only documented paths, and what the client sent.
 */
import { appFor, ENDPOINTS, ERROR_PAGES_PATH, type ErrorCode, type Host } from '@svc/contracts';
import leven from 'leven';

export interface UnknownRequest {
  readonly method: string;
  /** Path with its query, as it was sent. */
  readonly address: string;
  /** Host of the request. Undefined in a service, which serves paths of several hosts. */
  readonly host?: Host | undefined;
  /** Base URL of the error pages (SVC_ERROR_PAGES_URL), `{base_url}/errors`. */
  readonly errorPages?: string | undefined;
  /** Public base URL of the hosted gateway. */
  readonly gatewayUrl?: string | undefined;
}

export interface UnknownRouteError {
  readonly code: ErrorCode & ('resource.not-found' | 'request.method-not-allowed');
  readonly message: string;
  /** Value of the header `Allow`; only for a 405. */
  readonly allow?: string;
}

interface Endpoint {
  readonly host: keyof typeof ENDPOINTS;
  readonly path: string;
  readonly methods: readonly string[];
  /** Segments of the path. */
  readonly segments: readonly string[];
}

const PATHS_OF_HOSTS: Readonly<Record<keyof typeof ENDPOINTS, Readonly<Record<string, readonly string[]>>>> = ENDPOINTS;
const ALL_ENDPOINTS: readonly Endpoint[] = Object.entries(PATHS_OF_HOSTS).flatMap(([host, paths]) =>
  Object.entries(paths).map(([path, methods]) => ({
    host: host as keyof typeof ENDPOINTS,
    path,
    methods,
    segments: splitPath(path),
  })),
);

const HOST_NAMES: Readonly<Record<Host, string>> = {
  api: 'the main API',
  gateway: 'the hosted gateway',
  shop: 'the demo shop',
  admin: 'the administration API',
  console: 'the console',
};

/** A longer path is truncated in the message. */
const MAX_SHOWN_LENGTH = 200;
/** A path with more segments is not compared. The longest documented path has ten segments. */
const MAX_SEGMENTS = 12;

export function explainUnknownRoute(request: UnknownRequest): UnknownRouteError {
  const { host, method } = request;
  const path = request.address.split('?', 1)[0] ?? '';
  const endpoint = ALL_ENDPOINTS.find((each) => isOfHost(host, each) && matches(each, path));
  const methods = endpoint ? listMethods(endpoint) : [];
  if (!methods.includes(method) && methods.length > 0) {
    const allow = methods.join(', ');
    const message = `${show(path)} has no method ${method}. Its methods are: ${allow}.`;
    return { code: 'request.method-not-allowed', message, allow };
  }
  return { code: 'resource.not-found', message: explainPath(request, path) };
}

function explainPath(request: UnknownRequest, path: string): string {
  const { host } = request;
  const unknown =
    host === undefined
      ? `There is no path ${show(path)} here.`
      : `${capitalise(HOST_NAMES[host])} has no path ${show(path)}.`;
  const owner = findOwner(host, path, request.method);
  if (owner) return `${unknown} It is a path of ${nameOf(owner, request)}.`;
  const similar = findSimilar(host, path);
  if (similar) {
    const place = similar.host === host || host === undefined ? '' : ` of ${nameOf(similar.host, request)}`;
    return `${unknown} Did you mean ${similar.path}${place}? Its methods are: ${listMethods(similar).join(', ')}.`;
  }
  return `${unknown}${referenceHint(request)}`;
}

/** The other host that has the path. The paths below `/health` and `/errors` belong to several hosts. */
function findOwner(host: Host | undefined, path: string, method: string): Host | undefined {
  const documented = ALL_ENDPOINTS.find((endpoint) => matches(endpoint, path))?.host;
  if (host === undefined || documented !== undefined) return documented === host ? undefined : documented;
  return (['api', 'gateway', 'admin'] as const).find((other) => other !== host && appFor(other, path, method));
}

/** The most similar documented path of the host, of the main API or of the gateway. */
function findSimilar(host: Host | undefined, path: string): Endpoint | undefined {
  const segments = splitPath(path);
  if (segments.length === 0 || segments.length > MAX_SEGMENTS) return undefined;
  const ranked = ALL_ENDPOINTS.filter((endpoint) => isOfHost(host, endpoint) || endpoint.host !== 'admin')
    .map((endpoint) => ({ endpoint, distance: measureDistance(endpoint.segments, segments) }))
    .filter(({ distance }) => distance !== Infinity)
    .map(({ endpoint, distance }) => ({ endpoint, distance: distance + (endpoint.host === host ? 0 : 1) }))
    .sort((a, b) => a.distance - b.distance);
  return ranked[0]?.endpoint;
}

/** A service serves paths of several hosts, so it does not know the host. */
function isOfHost(host: Host | undefined, endpoint: Endpoint): boolean {
  return host === undefined || endpoint.host === host;
}

/** Characters that differ, and segments that are missing. `Infinity` if the paths are not similar. */
function measureDistance(documented: readonly string[], sent: readonly string[]): number {
  const missing = documented.length - sent.length;
  if (missing === 0) return measureSegments(documented, sent);
  if (missing < 0) return Infinity;
  // The last parameter is missing: `/v1/codes` for `/v1/codes/{code}`.
  if (missing === 1 && documented.at(-1)!.startsWith('{') && Number.isFinite(measureSegments(documented, sent)))
    return 1 + measureSegments(documented, sent);
  // The beginning is missing: `/sessions` for `/api/v3.1/sessions`.
  const rest = documented.slice(missing);
  return rest[0]!.startsWith('{') ? Infinity : missing + measureSegments(rest, sent);
}

function measureSegments(documented: readonly string[], sent: readonly string[]): number {
  return sent.reduce((sum, segment, index) => sum + measureSegment(documented[index]!, segment), 0);
}

const VERSION = /^v(\d{1,3}(?:\.\d{1,3})?)$/;

/** Of two versions, the one that is nearer to the sent one is more similar. */
function measureSegment(documented: string, sent: string): number {
  if (documented.startsWith('{')) return 0;
  const versions = [documented, sent].map((segment) => Number(VERSION.exec(segment)?.[1]));
  if (versions.every(Number.isFinite)) return Math.abs(versions[0]! - versions[1]!) / 1_000;
  const distance = leven(documented, sent.slice(0, 40).toLowerCase());
  return distance <= (documented.length < 6 ? 1 : 2) ? distance : Infinity;
}

function splitPath(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

/** Whether the endpoint has this path. A path with an empty segment, such as a slash at its end, is another path. */
function matches({ segments }: Endpoint, path: string): boolean {
  const sent = path.split('/').slice(1);
  return (
    segments.length === sent.length &&
    segments.every((segment, index) => (segment.startsWith('{') ? sent[index] !== '' : segment === sent[index]))
  );
}

/** A service also responds to HEAD where it responds to GET. */
function listMethods({ methods }: Endpoint): string[] {
  return methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

/** The host with its URL, if it is known. The URL of the administration API is not public. */
function nameOf(host: Host, { errorPages, gatewayUrl }: UnknownRequest): string {
  const url = host === 'gateway' ? gatewayUrl : host === 'api' ? readApiUrl(errorPages) : undefined;
  return `${HOST_NAMES[host]}${url === undefined ? '' : `, ${url}`}${host === 'admin' ? ', on a private network' : ''}`;
}

function readApiUrl(errorPages: string | undefined): string | undefined {
  const isAbsolute = errorPages?.startsWith('http') === true && errorPages.endsWith(ERROR_PAGES_PATH);
  return isAbsolute ? errorPages.slice(0, -ERROR_PAGES_PATH.length) : undefined;
}

function referenceHint({ errorPages }: UnknownRequest): string {
  const apiUrl = readApiUrl(errorPages);
  return apiUrl === undefined ? '' : ` All paths: ${apiUrl}/reference.`;
}

function capitalise(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/**
 * The path as the message contains it. The reverse proxies also show the message on an HTML page, so the characters of
 * tags and attributes are percent-encoded.
 */
function show(path: string): string {
  const text = path.replaceAll(/[<>"'`]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text;
}
