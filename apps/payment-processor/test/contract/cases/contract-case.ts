import type { ContractWorld } from '../contract-world.js';

/** The rest at the acquirer after a case, besides the money of its payments. */
export interface CaseEnd {
  /** Number of approvals that expire at the acquirer without taking money. */
  readonly openAuthorisations: number;
}

/** Cases by their names. After each case the jobs run until nothing more can happen, and the invariants are checked. */
export type ContractCases = Readonly<Record<string, (world: ContractWorld) => Promise<CaseEnd | void>>>;
