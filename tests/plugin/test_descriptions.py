"""Docstrings and error sentences reach other languages in the names of the schema."""

from pulumi_kuberay.hosting.descriptions import Wording, pascal_case

wording = Wording({"ray_version": "rayVersion", "shut_down_after_seconds": "shutDownAfterSeconds", "head": "head"})


def test_names_of_properties_are_those_of_the_schema() -> None:
    told = wording.sentence("exactly one of keep, shut_down_after_seconds or ray_version=2, but 'ray_version' is set")
    assert told == "exactly one of keep, shutDownAfterSeconds or rayVersion=2, but 'rayVersion' is set"


def test_other_words_and_parts_of_longer_ones_stay() -> None:
    sentence = "my_ray_version, ray_version_2, python job.py --ray_version, shut_down, a.ray_version, ray_version-x"
    assert wording.sentence(sentence) == sentence


def test_docstrings_become_markdown() -> None:
    assert wording.description("First, ``ray start``.\n\n    Instead of `ray_version`.\n    ") == (
        "First, `ray start`.\n\nInstead of `rayVersion`."
    )


def test_elements_do_not_repeat_the_description_of_their_list() -> None:
    schema = {"names": {"description": "Of ``x``.", "items": {"type": "string", "description": "Of ``x``."}}}
    assert wording.described(schema) == {"names": {"description": "Of `x`.", "items": {"type": "string"}}}


def test_a_property_called_description_stays() -> None:
    schema = {"properties": {"description": {"type": "string", "description": "Of ray_version."}}}
    assert wording.described(schema) == {
        "properties": {"description": {"type": "string", "description": "Of rayVersion."}}
    }


def test_members_of_enums_are_called_as_other_languages_do() -> None:
    schema = {"enum": [{"name": "DELETE_SELF", "value": "DeleteSelf", "description": "``RayJob``."}]}
    assert wording.described(schema) == {
        "enum": [{"name": "DeleteSelf", "value": "DeleteSelf", "description": "`RayJob`."}]
    }
    assert [pascal_case(name) for name in ("K8S_JOB", "HTTP", "V1")] == ["K8sJob", "Http", "V1"]
