<?php
/** The calls of SvcPayments: limits of time, retries, errors, and the clock of this server. Copy it together with SvcPayments.php. */
declare(strict_types=1);

/** A failed call: the gateway responded with an error, or did not respond. */
final class SvcPaymentsError extends RuntimeException
{
    /**
     * @param int         $httpStatus 0 without a response
     * @param list<string> $messages  for people; programs must use the status
     * @param bool        $retryable  true if the same call may succeed later without a change
     * @param string|null $requestId  identifies the call for support
     * @param string|null $type       address of the page that explains the error
     * @param int|null    $retryAfterSeconds wait at least this long before you repeat the call
     */
    public function __construct(
        public readonly int $httpStatus,
        public readonly array $messages,
        public readonly bool $retryable,
        public readonly ?string $requestId = null,
        public readonly ?string $type = null,
        public readonly ?int $retryAfterSeconds = null,
    ) {
        $page = $type === null ? '' : " (see $type)";
        parent::__construct(($httpStatus === 0 ? 'No response' : $httpStatus) . ': ' . implode('; ', $messages) . $page);
    }
}

/** @internal used by SvcPayments */
final class SvcPaymentsHttp
{
    private const MAX_ATTEMPTS = 4;
    private const MAX_RETRY_AFTER_SECONDS = 3600;
    /** A smaller error of the clock makes neither a certificate nor a signature invalid. */
    private const MIN_CLOCK_ERROR_SECONDS = 60;
    /** The time of this server's clock minus the time of the API, at the newest response of the API. */
    private static ?int $clockErrorSeconds = null;

    /** @param list<string> $headers of every call */
    public function __construct(
        #[SensitiveParameter] private readonly array $headers,
        private readonly int $timeoutSeconds,
    ) {
    }

    /**
     * Retries a call without a response, and after 408, 429, 502, 503, 504, or 409 while the same call is still running. Waits as long as
     * the response requires (`Retry-After`), but not longer than the time that is left.
     *
     * @param list<string> $headers
     * @return array{body: array, headers: array<string, string>, text: string}
     */
    public function callWithRetries(
        string $method,
        string $url,
        ?array $body = null,
        array $headers = [],
        string $accept = 'application/json',
    ): array {
        $deadline = microtime(true) + 3 * $this->timeoutSeconds;
        for ($attempt = 1; ; $attempt++) {
            try {
                return $this->call($method, $url, $body, $headers, $accept, min($this->timeoutSeconds, $deadline - microtime(true)));
            } catch (SvcPaymentsError $error) {
                $backoff = 0.25 * 2 ** ($attempt - 1) * (0.75 + mt_rand() / mt_getrandmax() / 2);
                $pause = max($error->retryAfterSeconds ?? 0, $backoff);
                if (!$error->retryable || $attempt === self::MAX_ATTEMPTS || microtime(true) + $pause >= $deadline) throw $error;
                usleep((int) ($pause * 1_000_000));
            }
        }
    }

    /** Sends the request once. @see callWithRetries */
    public function call(
        string $method,
        string $url,
        ?array $body = null,
        array $headers = [],
        string $accept = 'application/json',
        ?float $timeoutSeconds = null,
    ): array {
        $responseHeaders = [];
        $curl = self::newCall($url, max(0.001, $timeoutSeconds ?? $this->timeoutSeconds), $responseHeaders);
        curl_setopt_array($curl, [
            CURLOPT_CUSTOMREQUEST => $method,
            CURLOPT_HTTPHEADER => [
                "accept: $accept",
                ...$this->headers,
                ...$headers,
                ...($body === null ? [] : ['content-type: application/json']),
            ],
        ]);
        if ($body !== null) {
            curl_setopt($curl, CURLOPT_POSTFIELDS, json_encode($body, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES));
        }
        $text = curl_exec($curl);
        $status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
        if ($text === false) {
            $failure = curl_error($curl);
            $reason = preg_match('/not yet valid|has expired/i', $failure) ? '. ' . self::explainCertificate($url) : '';
            throw new SvcPaymentsError(0, [$failure . $reason], true);
        }
        // A page of a proxy has another type, and its time may be wrong. A cache adds Age, and its Date is old.
        if (str_contains($responseHeaders['content-type'] ?? '', 'json') && !isset($responseHeaders['age'])) {
            self::$clockErrorSeconds = self::clockError($responseHeaders) ?? self::$clockErrorSeconds;
        }
        $response = json_decode($text, true);
        if ($status >= 200 && $status < 300 && (is_array($response) || $accept !== 'application/json')) {
            return ['body' => $response ?? [], 'headers' => $responseHeaders, 'text' => $text];
        }
        throw self::newError($status, $response, $responseHeaders);
    }

    private static function newError(int $status, mixed $response, array $headers): SvcPaymentsError
    {
        $messages = array_column(is_array($response['errors'] ?? null) ? $response['errors'] : [], 'message');
        $retryable = in_array($status, [408, 429, 502, 503, 504], true) || ($status === 409 && isset($headers['retry-after']));
        $type = preg_match('~^<(https?://[^<>\s]+)>; rel="help"$~D', $headers['link'] ?? '', $page) ? $page[1] : null;
        $isPage = str_contains($headers['content-type'] ?? '', 'html');
        $unread = match (true) {
            $status === 401 => $headers['x-error-code'] ?? 'the key is missing, wrong or revoked',
            $isPage => 'the response is an HTML page: is this the right address, or is a proxy in front of it?',
            default => 'the response cannot be read',
        };
        return new SvcPaymentsError($status, $messages ?: [$unread], $retryable, $headers['x-request-id'] ?? null, $type, self::retryAfter($headers));
    }

    /** @param array<string, string> $responseHeaders is filled, with names in lower case */
    private static function newCall(string $url, float $timeoutSeconds, array &$responseHeaders): CurlHandle
    {
        $curl = curl_init($url);
        curl_setopt_array($curl, [
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_TIMEOUT_MS => (int) ceil($timeoutSeconds * 1000),
            // A redirect would send the key to its target.
            CURLOPT_FOLLOWLOCATION => false,
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
            CURLOPT_HEADERFUNCTION => static function ($_, string $line) use (&$responseHeaders): int {
                [$name, $value] = explode(':', $line, 2) + [1 => ''];
                $responseHeaders[strtolower(trim($name))] = trim($value);
                return strlen($line);
            },
        ]);
        return $curl;
    }

    /** `Retry-After` contains seconds or a date. A date is compared with the response's `Date`, because this clock may be wrong. */
    private static function retryAfter(array $headers): ?int
    {
        $text = $headers['retry-after'] ?? '';
        if (preg_match('/^\d{1,9}$/D', $text)) return min((int) $text, self::MAX_RETRY_AFTER_SECONDS);
        [$until, $now] = [strtotime($text), strtotime($headers['date'] ?? '')];
        return $until === false || $now === false ? null : max(0, min($until - $now, self::MAX_RETRY_AFTER_SECONDS));
    }

    private static function clockError(array $headers): ?int
    {
        $time = strtotime($headers['date'] ?? '');
        return $time === false ? null : time() - $time;
    }

    /**
     * Explains a certificate that is not valid now, by the header `Date` of the server. This call contains no key, and its response
     * is only used for the text of an error. Therefore it accepts the certificate, which a wrong clock cannot check.
     */
    private static function explainCertificate(string $url): string
    {
        $headers = [];
        $curl = self::newCall((string) preg_replace('~^(https?://[^/]+).*~s', '$1/', $url), 2, $headers);
        curl_setopt_array($curl, [CURLOPT_NOBODY => true, CURLOPT_SSL_VERIFYPEER => false, CURLOPT_SSL_VERIFYHOST => 0]);
        curl_exec($curl);
        $error = self::clockError($headers);
        if ($error === null) return 'Is the clock of this server right?';
        return self::describeClockError($error) ?? 'The clock of this server is right, so the platform needs a new certificate';
    }

    /** Returns null if the clock is right, or if its error is unknown. */
    public static function describeClockError(?int $seconds = null): ?string
    {
        $seconds ??= self::$clockErrorSeconds;
        if ($seconds === null || abs($seconds) < self::MIN_CLOCK_ERROR_SECONDS) return null;
        $rest = abs($seconds);
        $parts = [];
        foreach (['day' => 86400, 'hour' => 3600, 'minute' => 60, 'second' => 1] as $unit => $length) {
            $count = intdiv($rest, $length);
            $rest %= $length;
            // The largest unit that is not 0, and the next one.
            if ($count > 0 || $parts !== []) $parts[] = $count === 0 ? '' : "$count $unit" . ($count === 1 ? '' : 's');
        }
        $difference = trim(implode(' ', array_slice($parts, 0, 2)));
        $side = $seconds > 0 ? 'ahead of' : 'behind';
        return "The clock of this server is $difference $side the time of the API (header Date): set it to the right time";
    }
}
