"""Whether an index knows its library as it is now."""

from wordsight.desk.index import index_folder, is_current, update_index
from wordsight.library import Library
from wordsight.worlds import street, write_world


def test_an_index_is_current_until_the_library_changes(tmp_path):
    write_world(street(2, 5, noise=0.0), tmp_path / "films")
    first, second = sorted((tmp_path / "films").glob("*.mp4"))
    with Library.create(tmp_path / "library") as library:
        library.add(first, detector="rendered", workers=1)
        folder = index_folder(library, None)
        assert not is_current(library, folder)
        update_index(library, folder)
        assert is_current(library, folder)
        library.add(second, detector="rendered", workers=1)
        assert not is_current(library, folder)
        assert len(update_index(library, folder).added) == 1
        assert is_current(library, folder)
