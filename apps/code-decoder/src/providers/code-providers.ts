import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Mode } from '@svc/contracts';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { CodeDecoderConfig } from '../config.js';
import { type CodeFragments, matchFragment } from './code-format.js';
import { type CodeProvider, type ProviderResult, ProviderUnavailableError } from './code-provider.js';
import { HttpCodeProvider } from './http-code-provider.js';
import { parseProviders } from './provider-settings.js';
import { type RunningProvider, startSimulatedProvider } from './simulated-provider.js';

/** Combined result of all providers: a known code takes precedence over an unavailable provider. */
export type LookupResult = ProviderResult | { readonly kind: 'unavailable' };

/** The configured third-party providers (D4). */
@Injectable()
export class CodeProviders implements OnApplicationBootstrap, OnApplicationShutdown {
  private providers: readonly CodeProvider[] = [];
  private simulated: RunningProvider | undefined;

  constructor(
    @Inject(CodeDecoderConfig) private readonly config: CodeDecoderConfig,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { SVC_CODE_PROVIDERS, SVC_ENVIRONMENT, SVC_SIMULATED_PROVIDER } = this.config;
    const inDevelopment = SVC_ENVIRONMENT === 'development';
    const read = parseProviders(SVC_CODE_PROVIDERS);
    if (read.problem !== undefined) throw new Error(`SVC_CODE_PROVIDERS ${read.problem}`);
    if (SVC_SIMULATED_PROVIDER === 'on') {
      if (!inDevelopment) throw new Error('SVC_SIMULATED_PROVIDER is only for development.');
      this.simulated = await startSimulatedProvider();
    }
    this.providers = [...read.providers, ...(this.simulated ? [this.simulated.settings] : [])].map(
      (settings) => new HttpCodeProvider(settings, { allowLoopback: inDevelopment }),
    );
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.providers.map((provider) => provider.close()));
    await this.simulated?.close();
  }

  /** Fragments that identify the codes of all providers in this mode (D2). */
  fragmentsOf(mode: Mode): CodeFragments {
    const providers = this.providers.filter((provider) => provider.mode === mode);
    return {
      hosts: providers.flatMap(({ fragments }) => fragments.hosts),
      shortLinks: providers.flatMap(({ fragments }) => fragments.shortLinks),
    };
  }

  /** Queries the providers whose fragments match, concurrently. If none matches, queries those that verify unknown codes (D3). */
  async find(mode: Mode, code: string): Promise<LookupResult> {
    const providers = this.providers.filter((provider) => provider.mode === mode);
    const owners = providers.filter(({ fragments }) => matchFragment(code, fragments) !== undefined);
    const queried = owners.length > 0 ? owners : providers.filter(({ verifiesUnknown }) => verifiesUnknown);
    const answers = await Promise.all(queried.map((provider) => this.findWith(provider, code)));
    return (
      answers.find(({ kind }) => kind === 'known') ??
      answers.find(({ kind }) => kind === 'unavailable') ??
      answers.find(({ kind }) => kind === 'expired') ?? { kind: 'unknown' }
    );
  }

  private async findWith(provider: CodeProvider, code: string): Promise<LookupResult> {
    try {
      return await provider.find(code);
    } catch (error) {
      if (!(error instanceof ProviderUnavailableError)) throw error;
      this.log.warn({ err: error, provider: provider.name }, 'code provider request failed');
      return { kind: 'unavailable' };
    }
  }
}
