# The application: web, worker and commands are the same image with another command. See docs/operations.md.
FROM python:3.11-slim-bookworm AS build
COPY requirements.txt /tmp/requirements.txt
RUN python -m venv /opt/assay \
    && /opt/assay/bin/pip install --no-cache-dir --disable-pip-version-check --no-deps --require-hashes -r /tmp/requirements.txt

FROM python:3.11-slim-bookworm
# PostgreSQL's own programs take and restore backups; they must be at least as new as the server.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends postgresql-client-15 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /srv/assay --shell /usr/sbin/nologin assay
COPY --from=build /opt/assay /opt/assay
WORKDIR /srv/assay
COPY . /srv/assay
ENV PATH=/opt/assay/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 HOST=0.0.0.0 LOG_FORMAT=json AUDIT_LOG=-
# Static files are hashed and compressed once, here. The key that this makes signs nothing and does not stay.
RUN python manage.py collectstatic --noinput --verbosity 0 \
    && rm -f var/secret-key \
    && mkdir -p var/backups var/files \
    && chown assay:assay var var/backups var/files
USER assay
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=120s --retries=3 CMD ["python", "deploy/probe.py"]
CMD ["gunicorn", "config.wsgi"]
