"""The demo campaign, for tests that do not ask how it is loaded."""

from exchange.demo_campaign import load_demo
from tests.worlds.recorded import built_once

make_demo = built_once(load_demo)
