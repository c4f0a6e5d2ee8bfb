"""The wiring of the read service: settings become channels, recalls and read servers."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from events.platform.modes import modes_of
from events.platform.settings import Settings
from projectors.embedding.embedders import embedders_of
from retrieval.cards.past import fold_of
from retrieval.cards.reader import CardReader
from retrieval.channels.channel import Channel
from retrieval.channels.graph import GraphChannel
from retrieval.channels.semantic import SemanticChannel
from retrieval.channels.words import FuzzyChannel, TagsChannel, TimeChannel
from retrieval.insights import read_insights
from retrieval.modes import ModeReader
from retrieval.people import PeopleReader
from retrieval.pool import Pool, open_pool
from retrieval.read_servers import ReadServer, ReadServers
from retrieval.recall.card_resolution import CardResolver
from retrieval.recall.channel_executor import CHANNELS, ChannelExecutor, faults_of
from retrieval.recall.channel_health import ChannelHealth
from retrieval.recall.overlay import Overlay
from retrieval.recall.ranking.linear import load
from retrieval.recall.recall import Recall
from retrieval.recall.reranker import reranker_of
from retrieval.recall.user_sizes import UserSizes

logger = logging.getLogger(__name__)


def open_channels(settings: Settings, saturated: Callable[[], bool] = lambda: False) -> list[Channel]:
    """Returns the channels that search by themselves. The graph channel starts from their hits."""
    return [SemanticChannel(embedders_of(settings), saturated), TagsChannel(), FuzzyChannel(), TimeChannel()]


def open_health(settings: Settings) -> dict[str, ChannelHealth]:
    """Returns the channel health of this process, one for all servers."""
    health: dict[str, ChannelHealth] = {}
    for name in CHANNELS:
        health[name] = ChannelHealth(
            limit_ms=settings.quarantine_over_ms, quarantine_s=settings.quarantine_s, beside=health.values()
        )
    return health


def open_channel_executor(
    settings: Settings, pool: Pool, health: Mapping[str, ChannelHealth] | None = None
) -> ChannelExecutor:
    """Returns the executor with the deadlines, limits and faults of ``settings``.

    Raises SettingsError for a fault that cannot be read.
    """
    deadlines = {name: getattr(settings, f"{name}_deadline_ms") for name in CHANNELS}
    faults = faults_of(settings)
    for name, fault in faults.items():
        logger.warning(
            "FAULT INJECTION IS ON: %s makes the %s channel fail; this is for tests", fault.variable, name
        )
    return ChannelExecutor(
        pool, deadlines, health or open_health(settings), faults, last_resort_ms=settings.last_resort_ms
    )


def open_recall(
    settings: Settings,
    pool: Pool,
    url: str | None = None,
    channels: list[Channel] | None = None,
    health: Mapping[str, ChannelHealth] | None = None,
) -> Recall:
    """Returns a recall over the live tables of ``pool``, which is that of the server at ``url``; None: the primary.

    Recalls may share ``channels`` and their ``health``.
    """
    return Recall(
        UserSizes(pool),
        open_channel_executor(settings, pool, health),
        channels or open_channels(settings),
        GraphChannel(),
        CardResolver(pool, fold_of(settings)),
        Overlay(settings, pool, url),
        ModeReader(pool, modes_of(settings)),
        load(settings.ranking_file),
        PeopleReader(pool),
        partial(read_insights, pool),
        reranker_of(settings),
        settings.rerank_top,
    )


def open_servers(settings: Settings, saturated: Callable[[], bool]) -> ReadServers:
    """Returns the primary and its replicas, not connected yet. They share the embedders and the channel health."""
    channels, health = open_channels(settings, saturated), open_health(settings)

    def server(name: str, url: str | None) -> ReadServer:
        pool = open_pool(settings, "read", url)
        recall = open_recall(settings, pool, url, channels, health)
        return ReadServer(name, pool, recall, CardReader(pool, fold_of(settings), modes_of(settings)))

    urls = settings.read_database_url.split()
    return ReadServers(
        server("the primary", None),
        [server(f"replica {number}", url) for number, url in enumerate(urls, 1)],
        staleness_s=settings.read_staleness_s,
        watch=open_pool(replace(settings, pool_size=1), "read, watching replicas"),
        most_waits=settings.max_waits,
    )
