import type { Mode } from '@svc/contracts';
import type { VelocityScope } from './velocity-limits.js';

export const counterKey = (scope: VelocityScope, ...names: readonly (number | string)[]): string =>
  [scope, ...names].join(':');

export const siteKey = (mode: Mode, siteId: number): string => counterKey('site', mode, siteId);

export const scopeOf = (key: string): VelocityScope => key.slice(0, key.indexOf(':')) as VelocityScope;
