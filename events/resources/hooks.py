"""The answer to the hook of an assistant, in the words of the assistant."""

from pydantic import Field

from events.resources.resource import Absent, Resource


class HookOutput(Resource):
    """What the assistant reads before it goes on."""

    hookEventName: str = Field(description="the event that is answered")
    additionalContext: str = Field(description="a prompt, as /v1/context makes it")


class HookAnswer(Resource):
    """The answer to a hook. It is empty when the memory has nothing to say, and when it cannot say it in time."""

    hookSpecificOutput: Absent[HookOutput] = None
