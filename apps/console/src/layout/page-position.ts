/** The row after which a page of a list begins: the last one of the page before. */
export interface PagePosition {
  /** Undefined for a row that has no time. */
  readonly time: Date | undefined;
  readonly id: string;
}

const POSITION = /^(?<time>\d{0,14})_(?<id>[^_]{1,64})$/;

/** The position as the address of the next page contains it. */
export function formatPosition({ time, id }: PagePosition): string {
  return `${time?.getTime() ?? ''}_${id}`;
}

/** An invalid value counts as none. The caller checks the id. */
export function parsePosition(text: unknown): PagePosition | undefined {
  const { time, id } = (typeof text === 'string' ? POSITION.exec(text)?.groups : undefined) ?? {};
  if (time === undefined || id === undefined) return undefined;
  return { time: time === '' ? undefined : new Date(Number(time)), id };
}
