/** Builds one app from its sources, again after each change, and reports what happens to it. */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import type { SupervisedAppName } from '../processes/processes.ts';
import type { ReloadOutcome } from '../supervisor/control.ts';
import { AppBuild } from './app-build.ts';
import { PageBuild } from './page-build.ts';
import type { HostListener } from './platform-host.ts';
import { watchSources } from './source-watcher.ts';
import { TypeCheck } from './type-check.ts';

interface ServedAppPlan {
  readonly root: string;
  readonly app: SupervisedAppName;
  /** The folder of the built program. */
  readonly folder: string;
  readonly print: (text: string) => void;
}

export class ServedApp implements HostListener {
  private readonly plan: ServedAppPlan;
  private readonly page: PageBuild;
  private readonly types: TypeCheck;
  private stopWatching: () => void = () => undefined;
  private build: AppBuild | undefined;
  private reload: () => void = () => undefined;
  private changed = new Set<string>();
  private changedAt = 0;
  private isBuilding = false;
  private hasErrors = false;
  private isClosed = false;

  constructor(plan: ServedAppPlan) {
    const { root, app } = plan;
    this.plan = plan;
    this.page = new PageBuild(root, app);
    this.types = new TypeCheck(root, app);
  }

  /** @param reload called after each successful build */
  async start(reload: () => void): Promise<void> {
    const { root, app, folder } = this.plan;
    this.reload = reload;
    this.changedAt = performance.now();
    this.build = await AppBuild.create(root, app, folder);
    const folders = globSync([`apps/${app}/{src,browser,assets}`, 'libs/*/src'], { cwd: root });
    this.stopWatching = watchSources(root, folders, (files) => void this.rebuildAfter(files));
    await this.rebuild();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.stopWatching();
    await Promise.all([this.types.stop(), this.build?.close()]);
  }

  onReload(outcome: ReloadOutcome): void {
    const { app, print } = this.plan;
    if (this.isClosed) return;
    const seconds = ((performance.now() - this.changedAt) / 1000).toFixed(1);
    if (outcome === 'ready') print(`${app} is ready with these sources (${seconds} s)`);
    if (outcome === 'not ready') print(`${app} runs, but it is not ready after ${seconds} s`);
    void this.types.run(print);
  }

  onEnd(reason: string): void {
    const { app, print } = this.plan;
    print(`${app} ended (${reason}, see its log above); it starts again after the next change`);
  }

  onStop(): void {
    this.plan.print('The platform stops');
  }

  private async rebuildAfter(files: ReadonlySet<string>): Promise<void> {
    const relevant = [...files].filter((file) => this.hasErrors || this.isInput(file));
    if (relevant.length === 0) return;
    if (this.changed.size === 0) this.changedAt = performance.now();
    for (const file of relevant) this.changed.add(file);
    if (this.isBuilding) return;
    while (this.changed.size > 0 && !this.isClosed) {
      this.changed = new Set();
      await this.rebuild();
    }
  }

  private isInput(file: string): boolean {
    const assets = join('apps', this.plan.app, 'assets/');
    return this.build?.inputs.has(file) === true || this.page.inputs.has(file) || file.startsWith(assets);
  }

  /** The app continues to run with the last build while the sources have errors. */
  private async rebuild(): Promise<void> {
    const { app, print } = this.plan;
    this.isBuilding = true;
    const errors = (await Promise.all([this.build?.run() ?? [], this.page.run()])).flat();
    this.isBuilding = false;
    if (this.isClosed) return;
    this.hasErrors = errors.length > 0;
    if (!this.hasErrors) return this.reload();
    print(`The sources have errors, so ${app} does not start with them:\n${errors.join('\n\n')}`);
  }
}
