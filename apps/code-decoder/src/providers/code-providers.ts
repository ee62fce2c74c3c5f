import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Mode } from '@svc/contracts';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { CodeDecoderConfig } from '../config.js';
import { type CodeFragments, matchFragment } from './code-format.js';
import { type CodeProvider, type ProviderResult, ProviderUnavailableError } from './code-provider.js';
import { HttpCodeProvider } from './http-code-provider.js';
import { parseProviders } from './provider-settings.js';

/**
 * The combined result of all queried providers. If one provider knows the code, it does not matter that others are
 * unavailable.
 */
type LookupResult = ProviderResult | { readonly kind: 'unavailable' };

/** The configured third-party providers (D4). */
@Injectable()
export class CodeProviders implements OnApplicationShutdown {
  private readonly providers: readonly CodeProvider[];

  constructor(
    @Inject(CodeDecoderConfig) config: CodeDecoderConfig,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {
    const parsed = parseProviders(config.SVC_CODE_PROVIDERS);
    if (parsed.problem !== undefined) throw new Error(`SVC_CODE_PROVIDERS ${parsed.problem}`);
    const isDevelopment = config.SVC_ENVIRONMENT === 'development';
    const policy = { allowLoopback: isDevelopment, allowPrivate: isDevelopment };
    this.providers = parsed.providers.map((settings) => new HttpCodeProvider(settings, policy));
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.providers.map((provider) => provider.close()));
  }

  /** The fragments (hosts and short links) that identify codes of the providers in this mode (D2). */
  getFragments(mode: Mode): CodeFragments {
    const providers = this.providers.filter((provider) => provider.mode === mode);
    return {
      hosts: providers.flatMap(({ fragments }) => fragments.hosts),
      shortLinks: providers.flatMap(({ fragments }) => fragments.shortLinks),
    };
  }

  /**
   * Queries concurrently all providers whose fragments the code contains. If the code contains no fragment, the
   * providers that verify unknown codes are queried (D3).
   */
  async find(mode: Mode, code: string): Promise<LookupResult> {
    const providers = this.providers.filter((provider) => provider.mode === mode);
    const owners = providers.filter(({ fragments }) => matchFragment(code, fragments) !== undefined);
    const queried = owners.length > 0 ? owners : providers.filter(({ verifiesUnknown }) => verifiesUnknown);
    const results = await Promise.all(queried.map((provider) => this.queryProvider(provider, code)));
    return (
      results.find(({ kind }) => kind === 'known') ??
      results.find(({ kind }) => kind === 'unavailable') ??
      results.find(({ kind }) => kind === 'expired') ?? { kind: 'unknown' }
    );
  }

  private async queryProvider(provider: CodeProvider, code: string): Promise<LookupResult> {
    try {
      return await provider.find(code);
    } catch (error) {
      if (!(error instanceof ProviderUnavailableError)) throw error;
      this.log.warn({ err: error, provider: provider.name }, 'code provider request failed');
      return { kind: 'unavailable' };
    }
  }
}
