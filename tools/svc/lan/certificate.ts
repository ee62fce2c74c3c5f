/**
 * The self-signed certificate of `./svc up --lan`, for this machine's network address. Browsers encrypt card data only
 * in secure contexts, and a page becomes a secure context when the user accepts the certificate.
 *
 * It is not a certificate authority (CA: FALSE): a phone that accepts it trusts no other certificate signed with its
 * key.
 */
import 'reflect-metadata'; // Imported first, because the certificate library below needs it when it loads.
import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { OWNER_ONLY, writeAtomically } from '../base/files.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Phones reject certificates that are valid for more than 825 days; some reject more than 398 days. */
const VALID_DAYS = 397;
const RENEW_DAYS_BEFORE = 30;
/** The certificate must be valid on a phone whose clock is slow. */
const BACKDATED_DAYS = 1;
const WORLD_READABLE = 0o644;
const KEY_ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
}

export interface Certificate {
  /** SHA-256, as phones show it: pairs of hexadecimal digits with colons. */
  readonly fingerprint: string;
  /** Why a new certificate was created; undefined when the existing one was usable. */
  readonly renewalReason: string | undefined;
  readonly validUntil: Date;
}

/** Uses the certificate of the last start, or creates a new one when necessary. */
export async function ensureCertificate(files: CertificateFiles, address: string, now: Date): Promise<Certificate> {
  const renewalReason = findRenewalReason(readStored(files), address, now);
  if (renewalReason !== undefined) await createCertificate(files, address, now);
  chmodSync(files.key, OWNER_ONLY); // A copied file may have another mode.
  const { fingerprint256, validTo } = new X509Certificate(readFileSync(files.certificate));
  return { fingerprint: fingerprint256, renewalReason, validUntil: new Date(validTo) };
}

interface StoredCertificate {
  readonly certificate: X509Certificate;
  readonly hasMatchingKey: boolean;
}

/** Why a new certificate is needed; undefined when the stored one is usable. */
function findRenewalReason(stored: StoredCertificate | undefined, address: string, now: Date): string | undefined {
  if (stored === undefined) return 'there was none';
  const { certificate, hasMatchingKey: hasItsKey } = stored;
  if (!hasItsKey) return 'its key was lost';
  if (certificate.checkIP(address) === undefined) return 'the address has changed';
  if (now < new Date(certificate.validFrom)) return 'it was not valid yet';
  const renewAt = new Date(certificate.validTo).getTime() - RENEW_DAYS_BEFORE * DAY_MS;
  return now.getTime() >= renewAt ? 'it was about to expire' : undefined;
}

function readStored(files: CertificateFiles): StoredCertificate | undefined {
  if (!existsSync(files.certificate)) return undefined;
  try {
    const certificate = new X509Certificate(readFileSync(files.certificate));
    const hasItsKey = existsSync(files.key) && certificate.checkPrivateKey(createPrivateKey(readFileSync(files.key)));
    return { certificate, hasMatchingKey: hasItsKey };
  } catch {
    return undefined; // The file is damaged. A new certificate only causes one more warning on the phone.
  }
}

async function createCertificate(files: CertificateFiles, address: string, now: Date): Promise<void> {
  const { subtle } = globalThis.crypto;
  const keys = await subtle.generateKey(KEY_ALGORITHM, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    // The first byte is 1, so the number is positive. It has 16 bytes.
    serialNumber: `01${randomBytes(15).toString('hex')}`,
    name: [{ CN: [`Svc Payments on ${address}`] }],
    notBefore: new Date(now.getTime() - BACKDATED_DAYS * DAY_MS),
    notAfter: new Date(now.getTime() + VALID_DAYS * DAY_MS),
    signingAlgorithm: KEY_ALGORITHM,
    keys,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension([
        { type: 'ip', value: address },
        ...dnsNames(hostname()).map((value) => ({ type: 'dns' as const, value })),
      ]),
    ],
  });
  const key = PemConverter.encode(await subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY');
  mkdirSync(dirname(files.key), { recursive: true, mode: 0o700 });
  writeAtomically(files.key, `${key}\n`, OWNER_ONLY);
  writeAtomically(files.certificate, `${certificate.toString('pem')}\n`, WORLD_READABLE);
}

/** DNS names of this machine. A host name that is not a valid DNS name is left out. */
export function dnsNames(host: string): string[] {
  const isName = /^[a-z\d]([a-z\d-]{0,61}[a-z\d])?(\.[a-z\d]([a-z\d-]{0,61}[a-z\d])?)*$/i.test(host);
  return [...new Set(['localhost', ...(isName && host.length <= 253 ? [host.toLowerCase()] : [])])];
}
