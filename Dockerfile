# The image of the wheel that `make wheel` builds; web, worker and commands are the same image with other words after
# `assay`. See docs/operations.md.
FROM python:3.11-slim-bookworm AS build
COPY requirements.txt dist/*.whl /tmp/
RUN python -m venv /opt/assay \
    && /opt/assay/bin/pip install --no-cache-dir --disable-pip-version-check --no-deps --require-hashes -r /tmp/requirements.txt \
    && /opt/assay/bin/pip install --no-cache-dir --disable-pip-version-check --no-deps /tmp/*.whl

FROM python:3.11-slim-bookworm
# PostgreSQL's own programs take and restore backups; they must be at least as new as the server.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends postgresql-client-15 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /srv/assay --shell /usr/sbin/nologin assay \
    && install -d -o assay -g assay -m 700 /srv/assay /srv/assay/backups /srv/assay/files
COPY --from=build /opt/assay /opt/assay
COPY deploy/probe.py /opt/assay/probe.py
ENV PATH=/opt/assay/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 \
    ASSAY_HOME=/srv/assay HOST=0.0.0.0 LOG_FORMAT=json AUDIT_LOG=-
WORKDIR /srv/assay
USER assay
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=120s --retries=3 CMD ["python", "/opt/assay/probe.py"]
ENTRYPOINT ["assay"]
CMD ["start"]
