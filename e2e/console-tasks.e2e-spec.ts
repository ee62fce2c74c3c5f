/**
 * Each task of the console in a real browser, as each role that may do it, for all sites and for one site, and its refusal
 * for each other role. On separate processes, the role with the fewest rights does each task.
 */
import { type Right, type Role, ROLES, ROLES_WITH_RIGHT } from '@svc/contracts';
import { PATIENCE } from '@svc/testing';
import { MANAGEMENT_TASKS } from './console-tasks/management-tasks.js';
import { PAYMENT_TASKS } from './console-tasks/payment-tasks.js';
import type { Person } from './console-tasks/people.js';
import type { Task } from './console-tasks/task.js';
import { TaskMerchant } from './console-tasks/task-merchant.js';
import { sharedPlatform } from './platform/shared-platform.js';

const TIMEOUT_MS = 180_000 * PATIENCE;
/** With the start of the shared platform. */
const START_TIMEOUT_MS = 400_000 * PATIENCE;
const TASKS: readonly Task[] = [...PAYMENT_TASKS, ...MANAGEMENT_TASKS];
const PLACES = [false, true] as const;
const describePlace = (isOfOneSite: boolean): string => (isOfOneSite ? 'of one site' : 'of all sites');

type Row = readonly [who: string, name: string, role: Role, isOfOneSite: boolean, task: Task];

function listRows(mode: 'embedded' | 'distributed'): Row[] {
  return TASKS.flatMap((task) => {
    const places = mode === 'distributed' || task.isOfMerchant ? [false] : PLACES;
    // Every role does each task once. The other rows need only the role with the fewest rights.
    const rolesOf = (isOfOneSite: boolean): readonly Role[] =>
      mode === 'distributed' || isOfOneSite ? task.roles.slice(-1) : task.roles;
    return places.flatMap((isOfOneSite) =>
      rolesOf(isOfOneSite).map((role): Row => [
        `${role} ${describePlace(isOfOneSite)}`,
        task.name,
        role,
        isOfOneSite,
        task,
      ]),
    );
  });
}

test('the table has each right and each role, and the roles of a task are those with its rights', () => {
  const rights = Object.keys(ROLES_WITH_RIGHT) as Right[];
  expect([...new Set(TASKS.flatMap((task) => task.rights))].sort()).toEqual(rights.sort());
  expect([...new Set(TASKS.flatMap(({ roles }) => roles))].sort()).toEqual([...ROLES].sort());
  const hasRight = (role: Role, right: Right): boolean => (ROLES_WITH_RIGHT[right] as readonly Role[]).includes(role);
  for (const task of TASKS)
    expect([task.name, task.roles]).toEqual([
      task.name,
      ROLES.filter((role) => task.rights.every((right) => hasRight(role, right))),
    ]);
});

describe.each(['embedded', 'distributed'] as const)('on the %s platform', (mode) => {
  let merchant: TaskMerchant;
  beforeAll(async () => {
    merchant = await TaskMerchant.start(await sharedPlatform(mode));
  }, START_TIMEOUT_MS);
  afterAll(() => merchant?.stop());

  it.each(listRows(mode))(
    '%s %s',
    async (_who, _name, role, isOfOneSite, task) => {
      await task.expectDone(merchant.person(role, isOfOneSite), merchant);
    },
    TIMEOUT_MS,
  );

  it('writes no key that a page has shown to the log', () => {
    expect(merchant.shownSecrets.length).toBeGreaterThan(0);
    expect(merchant.findLoggedSecrets()).toEqual([]);
  });

  it.each(
    ROLES.flatMap((role) =>
      PLACES.map((isOfOneSite) => [`${role} ${describePlace(isOfOneSite)}`, role, isOfOneSite] as const),
    ),
  )(
    '%s finds neither page nor button of any other task, and no link of a menu leads to a refusal',
    async (_who, role, isOfOneSite) => {
      const person = merchant.person(role, isOfOneSite);
      const others = TASKS.filter((task) => !task.roles.includes(role) || (isOfOneSite && task.isOfMerchant));
      for (const task of others)
        expect([task.name, await findTask(person, merchant, task)]).toEqual([task.name, 'refused']);
      for (const address of await listMenuLinks(person))
        expect([address, (await person.page.request.get(address)).status()]).toEqual([address, 200]);
      const other = `/payments/${merchant.paidAtOtherSite.paymentReference}`;
      expect((await person.page.request.get(person.start + other)).status()).toBe(isOfOneSite ? 404 : 200);
    },
    TIMEOUT_MS,
  );
});

/** Whether the person sees where the task begins. A refused page is not shown, because it would be an error of the page. */
async function findTask(
  { page, start }: Person,
  merchant: TaskMerchant,
  { path, control }: Task,
): Promise<'refused' | 'offered'> {
  const address = start + path(merchant);
  const status = (await page.request.get(address)).status();
  if (status === 403) return 'refused';
  expect([address, status]).toEqual([address, 200]);
  if (control === undefined) return 'offered';
  await page.goto(address);
  return (await control(page).count()) === 0 ? 'refused' : 'offered';
}

/** The links of the menus, which are on the first page and on that of the developers. */
async function listMenuLinks({ page, start }: Person): Promise<string[]> {
  const pages = await Promise.all(['', '/developers'].map(async (path) => page.request.get(start + path)));
  const html = (await Promise.all(pages.filter((answer) => answer.ok()).map((answer) => answer.text()))).join('');
  const menus = [...html.matchAll(/<nav aria-label="(?:Menu|Developers)"[^]*?<\/nav>|<nav class="tabs"[^]*?<\/nav>/g)];
  const links = menus.flatMap(([menu]) => [...menu.matchAll(/href="([^"]+)"/g)].map(([, path]) => path!));
  expect(links.length).toBeGreaterThan(1);
  return links.map((path) => new URL(path, start).href);
}
