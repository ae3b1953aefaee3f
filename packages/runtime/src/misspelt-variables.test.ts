import { describe, expect, test } from 'vitest';
import { port, readConfig, text } from './config.ts';
import { KNOWN_VARIABLES } from './known-variables.ts';
import { misspeltVariables } from './misspelt-variables.ts';

const found = (environment: Record<string, string>) => misspeltVariables([], environment);

describe('a misspelt setting is an error that names it and the likely one', () => {
  test.each([
    ['KAFKA_BROKER', 'KAFKA_BROKERS'],
    ['KAFKA_BORKERS', 'KAFKA_BROKERS'],
    ['BROKERS_KAFKA', 'KAFKA_BROKERS'],
    ['kafka_brokers', 'KAFKA_BROKERS'],
    ['KAFKA-BROKERS', 'KAFKA_BROKERS'],
    ['OUTRIDER_KAFKA_BROKERS', 'KAFKA_BROKERS'],
    ['OUTRIDER_KAFKA_BROKER', 'KAFKA_BROKERS'],
    ['REDIS_URI', 'REDIS_URL'],
    ['REDIS_URLS', 'REDIS_URL'],
    ['DATABSE_URL', 'DATABASE_URL'],
    ['CLICKHOUSE_ULR', 'CLICKHOUSE_URL'],
    ['DATA_DIRS', 'DATA_DIR'],
    ['PORTS', 'PORT'],
    ['KAFKA_BOOTSTRAP_SERVERS', 'KAFKA_BROKERS'],
    ['KAFKA_BOOTSTRAP_SERVER', 'KAFKA_BROKERS'],
    ['POSTGRES_URL', 'DATABASE_URL'],
    ['DB_URL', 'DATABASE_URL'],
    ['OUTRIDER_DB_URL', 'DATABASE_URL'],
    ['CLICKHOUSE_HOST', 'CLICKHOUSE_URL'],
    ['REDIS_HOST', 'REDIS_URL'],
    ['S3_ENDPOINT', 'S3_URL'],
    ['ADMIN_PASS', 'ADMIN_PASSWORD'],
    ['LIMIT_AUTHORISED_PER_MINUTE', 'LIMIT_AUTHORIZED_PER_MINUTE'],
    ['LIMIT_FAILED_LOGIN_PER_MINUTES', 'LIMIT_FAILED_LOGINS_PER_MINUTE'],
  ])('%s: %s', (name, meant) => {
    expect(found({ [name]: 'x' })).toEqual({
      errors: [`${name} is not a setting; did you mean ${meant}?`],
      warnings: [],
    });
  });

  test('every setting with a letter left out, doubled, or two swapped, as far as it is long enough', {
    timeout: 120_000,
  }, () => {
    for (const name of KNOWN_VARIABLES.filter(({ length }) => length >= 6))
      for (let at = 1; at < name.length; at += 1) {
        const letter = name[at] ?? '';
        for (const wrong of [
          name.slice(0, at) + name.slice(at + 1),
          name.slice(0, at) + letter + name.slice(at),
          name.slice(0, at - 1) + letter + name[at - 1] + name.slice(at + 1),
        ])
          if (!KNOWN_VARIABLES.includes(wrong)) expect(found({ [wrong]: 'x' }).errors, wrong).toHaveLength(1);
      }
  });
});

test('where the right one is set as well, or the name is one of ours by its words alone, it is a warning', () => {
  expect(found({ KAFKA_BROKER: 'a:1', KAFKA_BROKERS: 'b:1' })).toEqual({
    errors: [],
    warnings: ['KAFKA_BROKER is not a setting; did you mean KAFKA_BROKERS?'],
  });
  expect(found({ OUTRIDER_COLOUR: 'red' }).warnings).toEqual([
    'OUTRIDER_COLOUR is not a setting; none begins with OUTRIDER_',
  ]);
  expect(found({ TELEMETRY_RETENTION_DAYS: '7' }).warnings).toEqual([
    'TELEMETRY_RETENTION_DAYS is not a setting; there are TELEMETRY_RETENTION_HOURS, TELEMETRY_RETENTION_MB',
  ]);
});

test('what is set where programs run is not taken for a setting', () => {
  const ordinary = `PATH HOME USER LOGNAME SHELL TERM LANG LC_ALL LANGUAGE PWD OLDPWD SHLVL HOSTNAME HOSTTYPE OSTYPE MACHTYPE MAIL EDITOR
    VISUAL PAGER DISPLAY TZ TMPDIR TMP TEMP COLORTERM LS_COLORS XDG_RUNTIME_DIR XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_DIRS
    XDG_SESSION_TYPE DBUS_SESSION_BUS_ADDRESS SSH_AUTH_SOCK SSH_CLIENT SSH_CONNECTION SSH_TTY SUDO_USER SUDO_UID INVOCATION_ID
    JOURNAL_STREAM NOTIFY_SOCKET LISTEN_FDS LISTEN_PID MAINPID SYSTEMD_EXEC_PID MEMORY_PRESSURE_WATCH CREDENTIALS_DIRECTORY
    STATE_DIRECTORY CACHE_DIRECTORY LOGS_DIRECTORY RUNTIME_DIRECTORY NODE NODE_ENV NODE_OPTIONS NODE_PATH NODE_VERSION
    NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED NODE_NO_WARNINGS NODE_DEBUG YARN_VERSION UV_THREADPOOL_SIZE INIT_CWD
    npm_command npm_config_cache npm_config_prefix npm_config_user_agent npm_config_local_prefix npm_execpath npm_lifecycle_event
    npm_lifecycle_script npm_node_execpath npm_package_json npm_package_name npm_package_version COLOR FORCE_COLOR NO_COLOR
    CI GITHUB_ACTIONS GITHUB_TOKEN GITHUB_SHA GITHUB_REF GITHUB_WORKSPACE GITHUB_RUN_ID RUNNER_OS RUNNER_TEMP GITLAB_CI
    CI_COMMIT_SHA CI_PROJECT_DIR BUILD_NUMBER JENKINS_URL JOB_NAME WORKSPACE BUILDKITE CIRCLECI TRAVIS TEAMCITY_VERSION
    VITEST VITEST_POOL_ID VITEST_WORKER_ID TEST MODE DEV PROD SSR BASE_URL JAVA_HOME JAVA_OPTS KAFKA_HEAP_OPTS KAFKA_OPTS KAFKA_HOME
    KAFKA_VERSION REDIS_VERSION REDIS_PASSWORD REDIS_PORT PGHOST PGPORT PGUSER PGPASSWORD PGDATABASE PGDATA POSTGRES_USER
    POSTGRES_PASSWORD POSTGRES_DB CLICKHOUSE_USER CLICKHOUSE_PASSWORD CLICKHOUSE_DB AWS_REGION AWS_ACCESS_KEY_ID
    AWS_SECRET_ACCESS_KEY AWS_PROFILE S3_BUCKET HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy SSL_CERT_FILE
    SSL_CERT_DIR DOCKER_HOST COMPOSE_PROJECT_NAME container KUBECONFIG KUBERNETES_PORT KUBERNETES_SERVICE_HOST
    KUBERNETES_SERVICE_PORT KUBERNETES_SERVICE_PORT_HTTPS KUBERNETES_PORT_443_TCP KUBERNETES_PORT_443_TCP_PROTO
    KUBERNETES_PORT_443_TCP_PORT KUBERNETES_PORT_443_TCP_ADDR REDIS_SERVICE_HOST REDIS_SERVICE_PORT REDIS_PORT_6379_TCP
    KAFKA_SERVICE_HOST KAFKA_BROKERS_SERVICE_HOST CLICKHOUSE_PORT_8123_TCP_ADDR OUTRIDER_SERVICE_HOST OUTRIDER_SERVICE_PORT_HTTP
    OUTRIDER_PORT_8080_TCP OUTRIDER_API_SERVICE_HOST POD_NAME POD_IP POD_NAMESPACE NODE_NAME DYNO GOPATH GOROOT VIRTUAL_ENV
    PYTHONPATH FAKETIME LD_PRELOAD OTEL_EXPORTER_OTLP_PROTOCOL OTEL_EXPORTER_OTLP_TRACES_ENDPOINT OTEL_RESOURCE_ATTRIBUTES
    OTEL_TRACES_EXPORTER OTEL_METRICS_EXPORTER OTEL_LOGS_EXPORTER OTEL_SDK_DISABLED CRASH_KILLS FAULT_ROUNDS SAY_ALL
    OUTRIDER_URL OUTRIDER_KEY OUTRIDER_PASSWORD OUTRIDER_LOGIN_FILE`;
  const environment = Object.fromEntries(ordinary.split(/\s+/).map((name) => [name, 'x']));
  expect(found({ ...environment, OUTRIDER_PORT: 'tcp://10.0.0.1:8080' })).toEqual({ errors: [], warnings: [] });
  expect(found(process.env as Record<string, string>).errors).toEqual([]);
});

test('the settings of one service are near to none of another’s, and empty values are unset', () => {
  for (const name of KNOWN_VARIABLES) expect(found({ [name]: 'x' })).toEqual({ errors: [], warnings: [] });
  expect(found({ KAFKA_BROKER: '' }).errors).toEqual([]);
});

test('a service does not start with one, and says all that is wrong at once', () => {
  const read = () =>
    readConfig({ PORT: port(8080, 'REST'), REDIS_URL: text('Redis') }, { KAFKA_BROKER: 'x', PORT: 'y' });
  expect(read).toThrow(/KAFKA_BROKER is not a setting; did you mean KAFKA_BROKERS/);
  expect(read).toThrow(/PORT must be a whole number/);
});
