/**
 * Finds the changes between a released document and the present one that break a client. New fields in a response and
 * removed limits of a request break no client. The comparison follows every `$ref`, so that a renamed component is no
 * difference.
 */
type Json = { readonly [key: string]: unknown };
/**
 * Clients send a `request`, so the present schema must accept everything that the released schema accepted. Clients
 * read a `response`, so the present schema must allow nothing that the released schema did not allow.
 */
type Side = 'request' | 'response';

interface Documents {
  readonly before: Json;
  readonly after: Json;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** Returns one line for each breaking change. */
export function findBreakingChanges(before: Json, after: Json): string[] {
  const documents = { before, after };
  return [...comparePaths(documents), ...compareWebhooks(documents), ...compareMessages(documents)];
}

function comparePaths(documents: Documents): string[] {
  return Object.entries(getMember(documents.before, 'paths')).flatMap(([path, methods]) =>
    METHODS.filter((method) => getMember(methods as Json, method) !== NOTHING).flatMap((method) => {
      const name = `${method.toUpperCase()} ${path}`;
      const [before, after] = [getMember(methods as Json, method), getMember(documents.after, 'paths', path, method)];
      return after === NOTHING ? [`${name} is gone`] : compareOperations(name, before, after, documents);
    }),
  );
}

function compareOperations(name: string, before: Json, after: Json, documents: Documents): string[] {
  return [
    ...compareParameters(name, before, after, documents),
    ...compareBodies(`${name} body`, getMember(before, 'requestBody'), getMember(after, 'requestBody'), documents),
    ...compareResponses(name, before, after, documents),
  ];
}

function compareParameters(name: string, before: Json, after: Json, documents: Documents): string[] {
  const [old, now] = [before, after].map((each) => (each['parameters'] ?? []) as Json[]) as [Json[], Json[]];
  const isSameParameter = (a: Json) => (b: Json) => a['name'] === b['name'] && a['in'] === b['in'];
  const added = now.filter((each) => each['required'] === true && !old.some(isSameParameter(each)));
  const changed = old.flatMap((each) => {
    const found = now.find(isSameParameter(each));
    const label = `${name} ${String(each['in'])} ${String(each['name'])}`;
    if (!found) return [`${label} is gone`];
    const newlyRequired =
      found['required'] === true && each['required'] !== true ? [`${label} has become required`] : [];
    return [
      ...newlyRequired,
      ...compareSchemas(label, getMember(each, 'schema'), getMember(found, 'schema'), 'request', documents),
    ];
  });
  return [
    ...added.map((each) => `${name} ${String(each['in'])} ${String(each['name'])} is new and required`),
    ...changed,
  ];
}

function compareBodies(name: string, before: Json, after: Json, documents: Documents): string[] {
  if (before === NOTHING) return after['required'] === true ? [`${name} is new and required`] : [];
  if (after === NOTHING) return [];
  return compareContents(name, getMember(before, 'content'), getMember(after, 'content'), 'request', documents);
}

/** A removed error status breaks no client, but a removed or new success status does. */
function compareResponses(name: string, before: Json, after: Json, documents: Documents): string[] {
  const [old, now] = [getMember(before, 'responses'), getMember(after, 'responses')];
  const gone = Object.keys(old).filter((status) => status.startsWith('2') && now[status] === undefined);
  const added = Object.keys(now).filter((status) => /^[23]/.test(status) && old[status] === undefined);
  const changed = Object.keys(old).flatMap((status) => {
    const [former, present] = [
      resolveReference(old[status], documents.before),
      resolveReference(now[status], documents.after),
    ];
    if (present === NOTHING) return [];
    const label = `${name} ${status}`;
    return compareContents(label, getMember(former, 'content'), getMember(present, 'content'), 'response', documents);
  });
  return [
    ...gone.map((status) => `${name} ${status} is gone`),
    ...added.map((status) => `${name} ${status} is new`),
    ...changed,
  ];
}

function compareContents(name: string, before: Json, after: Json, side: Side, documents: Documents): string[] {
  return Object.entries(before).flatMap(([type, content]) =>
    after[type] === undefined
      ? [`${name} ${type} is gone`]
      : compareSchemas(name, getMember(content as Json, 'schema'), getMember(after, type, 'schema'), side, documents),
  );
}

/** Clients read webhooks as they read responses. */
function compareWebhooks(documents: Documents): string[] {
  return Object.keys(getMember(documents.before, 'webhooks')).flatMap((name) => {
    const [before, after] = [documents.before, documents.after].map((each) =>
      getMember(each, 'webhooks', name, 'post', 'requestBody'),
    );
    if (after === NOTHING) return [`webhook ${name} is gone`];
    return compareContents(
      `webhook ${name}`,
      getMember(before!, 'content'),
      getMember(after!, 'content'),
      'response',
      documents,
    );
  });
}

/**
 * Compares the messages between services. Services of two releases exchange messages during an update, and the log
 * stores events of all releases.
 */
function compareMessages(documents: Documents): string[] {
  return Object.keys(getMember(documents.before, 'components', 'messages')).flatMap((name) => {
    const [before, after] = [documents.before, documents.after].map((each) =>
      getMember(each, 'components', 'messages', name),
    );
    const [label, sides] = describeReaders(name);
    if (after === NOTHING) return [`${label} is gone`];
    const changes = sides.flatMap((side) =>
      compareSchemas(label, getMember(before!, 'payload'), getMember(after!, 'payload'), side, documents),
    );
    // Readers of messages do not validate `format`.
    return [...new Set(changes)].filter((change) => !/ format was \S+ and is \S+$/.test(change));
  });
}

/**
 * During an update, a newer service reads the request of a command, and an older service reads its reply. Older and
 * newer services read an event: an older consumer reads events of a newer service, and a newer consumer reads old
 * events in a replay.
 */
function describeReaders(name: string): [label: string, sides: readonly Side[]] {
  const [, command, part] = /^(.*)\.(request|reply)$/.exec(name) ?? [];
  if (command === undefined) return [`event ${name}`, ['response', 'request']];
  return [`command ${command} ${part!}`, [part === 'request' ? 'request' : 'response']];
}

function compareSchemas(
  name: string,
  formerSchema: Json,
  presentSchema: Json,
  side: Side,
  documents: Documents,
  seen: readonly unknown[] = [],
): string[] {
  const [before, after] = [
    resolveReference(formerSchema, documents.before),
    resolveReference(presentSchema, documents.after),
  ];
  // A schema in `seen` contains itself, and its comparison is already in progress.
  if (before === NOTHING || after === NOTHING || seen.includes(before)) return [];
  const compareNested = (label: string, former: Json, present: Json): string[] =>
    compareSchemas(label, former, present, side, documents, [...seen, before]);
  return [
    ...compareTypes(name, before, after, side),
    ...compareValues(name, before, after, side),
    ...(side === 'request' ? findNarrowedLimits(name, before, after) : []),
    ...compareMembers(name, before, after, side, compareNested),
    ...(before['items'] && after['items']
      ? compareNested(`${name}[]`, getMember(before, 'items'), getMember(after, 'items'))
      : []),
    ...(before['additionalProperties'] && after['additionalProperties']
      ? compareNested(`${name}.*`, getMember(before, 'additionalProperties'), getMember(after, 'additionalProperties'))
      : []),
    ...compareAlternatives(name, before, after, side, compareNested),
  ];
}

type CompareNested = (label: string, former: Json, present: Json) => string[];

function compareTypes(name: string, before: Json, after: Json, side: Side): string[] {
  if (side === 'response' && isAnything(after) && !isAnything(before)) return [`${name} may be anything now`];
  if (side === 'request' && isAnything(before) && !isAnything(after))
    return [`${name} took anything, and no longer does`];
  const [old, now] = side === 'request' ? [listTypes(before), listTypes(after)] : [listTypes(after), listTypes(before)];
  // Every integer is a number.
  const isAccepted = (type: string): boolean => now.includes(type) || (type === 'integer' && now.includes('number'));
  if (old.length === 0 || now.length === 0 || old.every(isAccepted)) return [];
  return [`${name} was ${listTypes(before).join(' or ')} and is ${listTypes(after).join(' or ')}`];
}

function listTypes({ type }: Json): string[] {
  return type === undefined ? [] : ([type].flat() as string[]);
}

/** Whether the schema accepts every value: it has no restricting keyword, only annotations such as a description. */
function isAnything(schema: Json): boolean {
  return !['type', 'enum', 'const', 'anyOf', 'allOf', ...LOWER_LIMITS, ...UPPER_LIMITS, 'pattern', 'properties'].some(
    (key) => key in schema,
  );
}

function compareValues(name: string, before: Json, after: Json, side: Side): string[] {
  const values = ({ enum: list, const: only }: Json): unknown[] | undefined =>
    (list as unknown[] | undefined) ?? (only === undefined ? undefined : [only]);
  const [old, now] = [values(before), values(after)];
  if (side === 'request') {
    if (!now) return [];
    if (!old) return [`${name} takes only ${JSON.stringify(now)} now`];
    const refused = old.filter((value) => !now.includes(value));
    return refused.length > 0 ? [`${name} does not take ${JSON.stringify(refused)} any more`] : [];
  }
  if (!old) return [];
  if (!now) return [`${name} may be anything now`];
  const added = now.filter((value) => !old.includes(value));
  return added.length > 0 ? [`${name} may be ${JSON.stringify(added)} now`] : [];
}

const LOWER_LIMITS = ['minimum', 'minLength', 'minItems'];
const UPPER_LIMITS = ['maximum', 'maxLength', 'maxItems'];

function findNarrowedLimits(name: string, before: Json, after: Json): string[] {
  const isNarrower = (key: string, by: (old: number, now: number) => boolean): boolean =>
    after[key] !== undefined && (before[key] === undefined || by(before[key] as number, after[key] as number));
  const narrower = [
    ...LOWER_LIMITS.filter((key) => isNarrower(key, (old, now) => now > old)),
    ...UPPER_LIMITS.filter((key) => isNarrower(key, (old, now) => now < old)),
    ...['pattern', 'format'].filter((key) => after[key] !== undefined && after[key] !== before[key]),
  ];
  return narrower.map((key) => `${name} ${key} was ${formatLimit(before[key])} and is ${formatLimit(after[key])}`);
}

function formatLimit(limit: unknown): string {
  return typeof limit === 'string' || typeof limit === 'number' ? String(limit) : 'none';
}

function compareMembers(name: string, before: Json, after: Json, side: Side, compareNested: CompareNested): string[] {
  const [old, now] = [getMember(before, 'properties'), getMember(after, 'properties')];
  if (old === NOTHING || now === NOTHING) return [];
  const required = (schema: Json): string[] => (schema['required'] ?? []) as string[];
  const newlyRequired = side === 'request' ? required(after).filter((each) => !required(before).includes(each)) : [];
  const newlyOptional =
    side === 'response'
      ? required(before).filter((each) => now[each] !== undefined && !required(after).includes(each))
      : [];
  return [
    ...Object.keys(old).flatMap((each) => {
      if (now[each] !== undefined) return compareNested(`${name}.${each}`, getMember(old, each), getMember(now, each));
      return [`${name}.${each} is gone`];
    }),
    ...newlyRequired.map(
      (each) => `${name}.${each} ${old[each] === undefined ? 'is new and required' : 'has become required'}`,
    ),
    ...newlyOptional.map((each) => `${name}.${each} may be absent now`),
  ];
}

/** Compares the schemas of `anyOf` and `allOf` in pairs. */
function compareAlternatives(
  name: string,
  before: Json,
  after: Json,
  side: Side,
  compareNested: CompareNested,
): string[] {
  return ['anyOf', 'allOf'].flatMap((key) => {
    const [old, now] = [before, after].map((each) => (each[key] ?? []) as Json[]) as [Json[], Json[]];
    const listChanges = (former: Json, present: Json): string[] =>
      compareNested(`${name} (${old.indexOf(former) + 1})`, former, present);
    const pairs = pairAlternatives(old, now, listChanges).flatMap(([former, present]) => listChanges(former, present));
    if (key === 'allOf' || old.length === now.length) return pairs;
    const isFewer = now.length < old.length;
    return isFewer === (side === 'request') ? [...pairs, `${name} has ${isFewer ? 'fewer' : 'more'} forms now`] : pairs;
  });
}

/**
 * Pairs the schemas of two unions, whose order depends on the order in which the compiler reads types. Schemas with the
 * same name form a pair, then schemas without a difference, then the others in order.
 */
function pairAlternatives(
  old: readonly Json[],
  now: readonly Json[],
  listChanges: (former: Json, present: Json) => string[],
): [Json, Json][] {
  const remaining = [...now];
  const found = new Map<Json, Json>();
  const conditions: ((former: Json, present: Json) => boolean)[] = [
    (former, present) => former['$ref'] !== undefined && former['$ref'] === present['$ref'],
    (former, present) => listChanges(former, present).length === 0,
    () => true,
  ];
  for (const isPair of conditions)
    for (const former of old) {
      const index = found.has(former) ? -1 : remaining.findIndex((present) => isPair(former, present));
      if (index >= 0) found.set(former, remaining.splice(index, 1)[0]!);
    }
  return [...found];
}

const NOTHING: Json = {};

function getMember(value: Json, ...keys: string[]): Json {
  let found: unknown = value;
  for (const key of keys) found = (found as Json | undefined)?.[key];
  return (found ?? NOTHING) as Json;
}

function resolveReference(value: unknown, document: Json): Json {
  const $ref = (value as Json | undefined)?.['$ref'];
  if (typeof $ref !== 'string') return (value ?? NOTHING) as Json;
  const keys = $ref
    .slice(2)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  return resolveReference(getMember(document, ...keys), document);
}
