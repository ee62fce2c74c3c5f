import type { Right, Role } from '@svc/contracts';
import type { Locator, Page } from 'playwright-core';
import type { Person } from './people.js';
import type { TaskMerchant } from './task-merchant.js';

/** A task of a person in the console. */
export interface Task {
  readonly name: string;
  /** The roles that may do it. */
  readonly roles: readonly Role[];
  /** The rights that it needs, all of them. */
  readonly rights: readonly Right[];
  /** A role at one site is not enough. */
  readonly isOfMerchant?: true;
  /** The page on which it begins, below the pages of the merchant. */
  readonly path: (merchant: TaskMerchant) => string;
  /** The button or the link that only people see who may do the task. Absent: only they may open the page. */
  readonly control?: (page: Page) => Locator;
  /** Does it, and expects its results. */
  expectDone(person: Person, merchant: TaskMerchant): Promise<void>;
}

/** A page that has just been shown may not yet have what happened in another service. */
export async function reloadUntil(page: Page, expected: Locator): Promise<void> {
  for (let loads = 0; !(await expected.isVisible()); loads++) {
    expect(loads).toBeLessThan(100);
    await page.reload();
  }
}
