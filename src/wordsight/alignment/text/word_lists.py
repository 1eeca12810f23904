"""Closed word lists of the tagger: function words, units, common verbs.

Written for instructions: protocols, recipes, assembly. Verbs missing from the list are still found
where only a verb can stand, so the list only decides ambiguous cases.
"""

__all__ = [
    "ADJECTIVES",
    "AUXILIARIES",
    "CONJUNCTIONS",
    "DETERMINERS",
    "IRREGULAR_VERBS",
    "MEASURES_THAT_ARE_THINGS",
    "OTHER_FUNCTION_WORDS",
    "PREPOSITIONS",
    "PRONOUNS",
    "THING_VERBS",
    "TOOL_VERBS",
    "UNITS",
    "VAGUE_NOUNS",
    "VERBS",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


DETERMINERS = _words(
    "a an the this that these those each every both all another any some no either neither "
    "its your their his her our my whichever whatever remaining other same enough several few "
    "many more most much"
)
PREPOSITIONS = _words(
    "of in into on onto to from with without for at by off out over under above below beneath "
    "between among through throughout during before after until till against along around "
    "across behind beside besides near next inside outside within toward towards up down about "
    "as than via per upon like except onto underneath alongside"
)
PRONOUNS = _words(
    "it they them he she you we i me us him itself themselves yourself one ones none everything "
    "anything something nothing everyone anyone someone which who whom whose what there here"
)
CONJUNCTIONS = _words(
    "and or but then so if when while because since unless once whenever wherever where whether "
    "though although that yet nor plus"
)
AUXILIARIES = _words(
    "is are was were be been being am has have had having do does did will would shall should "
    "can could may might must need needs 'll 's 're 've isn't aren't wasn't don't doesn't cannot "
    "can't won't let"
)
OTHER_FUNCTION_WORDS = _words(
    "not only just also again back aside away together apart very too almost until now later "
    "soon first second third finally next last then approximately about roughly ca twice thrice "
    "overnight well still even ever never always often possible necessary needed sure ready "
    "please e.g i.e etc vs tbd meanwhile afterwards otherwise instead once half forward upright "
    "sideways upside downward upward downwards upwards clockwise counterclockwise halfway off"
)
ADJECTIVES = _words(
    "small large big tiny long short tall wide narrow thick thin high low deep shallow hot cold "
    "warm cool dry wet clean dirty full empty open closed new old fresh good bad right left top "
    "upper lower front rear round flat sharp blunt soft hard heavy light dark bright clear pale "
    "red green blue yellow white black brown grey gray orange purple pink golden plastic metal "
    "wooden sterile serological original total final initial whole entire equal even smooth "
    "rough fine coarse raw ripe ice-cold lukewarm remaining extra spare main single double free "
    "gentle slow quick careful thorough stable tight loose correct appropriate suitable desired"
)
UNITS = _words(
    "g mg kg ug µg μg ng l ml ul µl μl dl cl m cm mm um µm μm nm km mol mmol mm umol µmol M mM "
    "s sec secs second seconds min mins minute minutes h hr hrs hour hours day days week weeks "
    "rpm xg °c °f c f k celsius celcius fahrenheit degree degrees percent % cup cups tbsp tsp "
    "tablespoon tablespoons teaspoon teaspoons oz ounce ounces lb lbs pound pounds inch inches "
    "ft foot feet w watt watts v volt volts nm psi bar pa kpa hz x times fold litre litres liter "
    "liters gram grams milligram milligrams millilitre millilitres milliliter milliliters "
    "microlitre microlitres microliter microliters metre metres meter meters"
)
VAGUE_NOUNS = _words(
    "step steps piece pieces bit bits part parts amount amounts quantity volume time times "
    "number way order end middle outside inside bottom top side sides edge edges rest "
    "temperature location kind sort level instance case care use date half place"
)
"""Nouns that do not name a thing a hand could touch."""

VERBS = _words(
    "add adjust agitate aim align aliquot allow apply arrange ask aspirate assemble attach avoid "
    "bake balance bang batter beat begin bend bind blend blot boil bolt bore break bring brown "
    "brush buff build burn butter button calibrate cap carry carve catch centrifuge change check "
    "chill choose chop clamp clean clear clip close coat collect combine connect continue cook "
    "cool count cover crack cream crimp cross crush cut decant discard degas deposit detach "
    "dice dilute dip discard dispense dispose dissolve divide drag drain draw dress drill drink "
    "drizzle drop dry dump dust eat eject empty ensure enter erase estimate evaporate examine "
    "expel extract fasten feed feel fetch fill filter find finish fit fix flatten flip flush fold "
    "follow form freeze fry garnish gather get give glue grab grate grease grill grind grip "
    "hammer handle hang harvest heat hold homogenize immerse incubate inject inoculate insert "
    "inspect install invert iron join keep knead label lay leave let level lift light line load "
    "lock look loosen lower lubricate make mark mash match measure melt microwave mince mix "
    "monitor mount move nail note observe obtain oil open operate orient paint pass paste peel "
    "pick pierce pinch pipet pipette place plate plug point polish position pour prepare press "
    "prevent prick proceed pull pump punch purge push put raise reach read rebuild record reduce "
    "refill refrigerate release remove repeat replace reserve rest resuspend return reverse rinse "
    "rip rise roast roll rotate rub run sand saute save saw scoop scrape screw scrub seal search "
    "season secure select separate serve set shake shape sharpen shift show shred shut sieve "
    "sift simmer sit skim slice slide snap soak solder sort spin spoon spray spread sprinkle "
    "squeeze stack stain stand staple start steam stick sterilize stir stop store strain stretch "
    "strip submerge suck suspend sweep swirl switch swab take tap tape tare taste tear test thaw "
    "thread throw tie tighten tilt tip titrate toast top toss touch transfer trim turn twist "
    "unclip uncover unfold unlock unplug unroll unscrew untie unwrap use vacuum verify vortex "
    "wait warm wash watch water wear weigh wet whip whisk wind wipe wrap write zero zip"
)
TOOL_VERBS = _words(
    "pipette pipet spoon hammer brush drill saw whisk tape glue staple vacuum iron microwave "
    "vortex centrifuge filter"
)
"""Verbs that are also the name of the tool."""

THING_VERBS = TOOL_VERBS | _words(
    "cap label plug plate clip clamp screw nail bolt button butter oil water cover seal lock grip "
    "handle paste paint pump punch sieve shape light line file level stain thread wrap"
)
"""Verbs that are as often the name of a thing."""

MEASURES_THAT_ARE_THINGS = _words("cup bar tablespoon teaspoon")

IRREGULAR_VERBS = {
    "drank": "drink",
    "drunk": "drink",
    "ate": "eat",
    "eaten": "eat",
    "took": "take",
    "taken": "take",
    "held": "hold",
    "made": "make",
    "brought": "bring",
    "got": "get",
    "gave": "give",
    "given": "give",
    "hung": "hang",
    "kept": "keep",
    "laid": "lay",
    "left": "leave",
    "poured": "pour",
    "shook": "shake",
    "shaken": "shake",
    "stuck": "stick",
    "stood": "stand",
    "tore": "tear",
    "torn": "tear",
    "threw": "throw",
    "thrown": "throw",
    "tied": "tie",
    "wrote": "write",
    "written": "write",
    "wound": "wind",
    "found": "find",
    "froze": "freeze",
    "frozen": "freeze",
    "broke": "break",
    "broken": "break",
    "bent": "bend",
    "bound": "bind",
    "built": "build",
    "caught": "catch",
    "chose": "choose",
    "drew": "draw",
    "drawn": "draw",
    "fed": "feed",
    "felt": "feel",
    "ground": "grind",
    "slid": "slide",
    "spun": "spin",
    "sat": "sit",
    "swept": "sweep",
    "wore": "wear",
    "worn": "wear",
    "ran": "run",
    "rose": "rise",
    "lit": "light",
    "tying": "tie",
    "went": "go",
    "gone": "go",
}
