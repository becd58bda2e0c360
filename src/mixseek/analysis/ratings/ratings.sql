-- What `Ratings` asks. `rated` holds one row an item and rater: unit and question are numbers of items and questions,
-- rater is the place of its name in the list. Values of texts are their places in the list of categories.

-- name: add_labels
-- People are raters, too: of every sample that has the text they labelled. Of a pair they prefer one, or neither.
INSERT INTO rows BY NAME
    WITH given AS (SELECT unnest($texts) AS text, unnest($raters) AS rater, unnest($shares)::DOUBLE AS share),
        samples AS (SELECT DISTINCT ON (item) item, question, system, length, first, second, shown FROM rows ORDER BY item, row)
    SELECT * EXCLUDE (share, number, shown), true AS is_label, number AS row, number AS rank,
        CASE WHEN shown IS NULL THEN share END AS value, CASE WHEN shown IS NOT NULL THEN 'AB' END AS shown,
        CASE WHEN shown IS NOT NULL THEN CASE WHEN share > 0.5 THEN 'A' WHEN share < 0.5 THEN 'B' ELSE 'tie' END END AS said
    FROM (SELECT samples.*, rater, share, (SELECT max(row) FROM rows) + row_number() OVER (ORDER BY item, rater) AS number
        FROM given JOIN read_parquet($path) AS texts USING (text) JOIN samples ON samples.item = texts.key)

-- name: drop_doubled
-- What people were asked for on purpose takes the place of what the dataset brought.
DELETE FROM rows WHERE rater = $people AND EXISTS
    (SELECT 1 FROM rows AS later WHERE later.item = rows.item AND later.rater = $people AND later.row > rows.row)

-- name: create_pair_rows
-- A run of pairs: a row for each order that was asked, and one for what people prefer, where the dataset says it.
CREATE TABLE rows AS
    WITH asked AS (
        SELECT *, unnest(CASE WHEN state = 'single' AND verdict_ba IS NULL THEN ['AB'] WHEN state = 'single' THEN ['BA']
            ELSE ['AB', 'BA'] END) AS shown FROM run.pair_votes WHERE NOT is_control
    ), told AS (
        SELECT *, judge AS rater, CASE shown WHEN 'AB' THEN verdict_ab ELSE verdict_ba END AS said FROM asked
        UNION ALL BY NAME
        SELECT DISTINCT ON (key) *, $people AS rater, human AS said, 'AB' AS shown FROM run.pair_votes WHERE human IS NOT NULL
        ORDER BY key, judge_order, take
    ), placed AS (
        SELECT *, row_number() OVER (ORDER BY rater = $people, take, sample, judge_order, shown) AS row FROM told
    )
    SELECT key AS item, question, NULL::VARCHAR AS system, rater, NULL::DOUBLE AS value, said, true AS is_label, row,
        row AS rank, length_a / nullif(length_b, 0) AS length, target_a AS first, target_b AS second, shown FROM placed

-- name: create_turned
-- Who is A of an item is what its first row says. These have the two the other way round.
CREATE TEMP TABLE turned AS
    SELECT row, a, b FROM rows JOIN (SELECT item, arg_min(first, row) AS a, arg_min(second, row) AS b FROM rows
        WHERE first <> second GROUP BY item) USING (item) WHERE first = b AND second = a

-- name: spell_votes
-- One spelling for all, so that a turned vote is spelled as the others are.
UPDATE rows SET said = list_extract($spelled, list_position($words, said)),
    gold_said = list_extract($spelled, list_position($words, gold_said))

-- name: turn_rows
-- With all that they say of A and B.
UPDATE rows SET first = a, second = b, length = CASE WHEN length > 0 THEN 1 / length END, value = -value, gold = -gold,
    said = CASE said WHEN 'A>B' THEN 'B>A' WHEN 'B>A' THEN 'A>B' ELSE said END,
    gold_said = CASE gold_said WHEN 'A>B' THEN 'B>A' WHEN 'B>A' THEN 'A>B' ELSE gold_said END,
    shown = CASE WHEN upper(shown) IN ('BA', 'B') THEN 'AB' WHEN coalesce(upper(shown), 'AB') IN ('AB', 'A') THEN 'BA'
        ELSE shown END
    FROM turned WHERE rows.row = turned.row

-- name: add_gold
-- A truth beside the ratings is a rater as well; its first word about an item counts.
INSERT INTO rows BY NAME
    SELECT item, any_value(question) AS question, any_value(system) AS system, $gold AS rater,
        arg_min(gold, row) AS value, arg_min(gold_said, row) AS said, true AS is_label, min(row) AS row, min(rank) AS rank
    FROM rows WHERE gold IS NOT NULL OR gold_said IS NOT NULL GROUP BY item

-- name: create_said
-- What each person said, once an item; together they are one rater, whose word is their mean.
CREATE TABLE people_said AS
    SELECT item, rater AS person, any_value(question) AS question, any_value(system) AS system,
        {rule} AS value, bool_and(is_label) AS is_label, min(row) AS row, min(rank) AS rank
    FROM rows WHERE is_person AND value IS NOT NULL GROUP BY item, rater

-- name: drop_people
DELETE FROM rows WHERE is_person

-- name: add_people
INSERT INTO rows BY NAME
    SELECT item, any_value(question) AS question, any_value(system) AS system, $people AS rater, avg(value) AS value,
        bool_and(is_label) AS is_label, min(row) AS row, min(rank) AS rank, true AS is_person
    FROM people_said GROUP BY item

-- name: certain_rows
-- The row of each item and rater that counts, with how sure it is, and what people say of the item.
WITH counted AS (
    SELECT DISTINCT ON (item, rater) item, list_position($names, rater) - 1 AS rater, value, shares, sure, has_sure, sure_source
    FROM rows WHERE value IS NOT NULL ORDER BY item, rater, rank
),
said AS ({says})
SELECT unit, items.question, counted.rater, counted.value, shares, sure, coalesce(has_sure, false), sure_source, said.value,
    list_avg([(given = counted.value)::DOUBLE FOR given IN said.each])
FROM counted JOIN items USING (item) LEFT JOIN said USING (item)
WHERE list_contains($raters, counted.rater) ORDER BY unit, counted.rater

-- name: said_by_human
SELECT item, rated.value, [rated.value] AS each FROM rated JOIN items USING (unit) WHERE rated.rater = $human AND is_label

-- name: said_by_people
SELECT item, avg(value) AS value, list(value) AS each FROM people_said WHERE is_label AND $human >= 0 GROUP BY item

-- name: create_items
-- An item's number is that of its first row.
CREATE TABLE items AS
    WITH grouped AS (
        SELECT item, min(row) AS unit, min(question) AS question, max(question) AS other,
            arg_min(system, row) AS system FROM rows GROUP BY item
    ), numbers AS (
        SELECT question, row_number() OVER (ORDER BY question) AS number FROM (SELECT DISTINCT question FROM grouped)
    )
    SELECT item, unit, number AS question, system, CASE WHEN question <> other THEN [question, other] END AS torn
    FROM grouped JOIN numbers USING (question)

-- name: torn_item
-- An item under two questions is not one judged text.
SELECT item, torn[1], torn[2] FROM items WHERE torn IS NOT NULL ORDER BY unit LIMIT 1

-- name: create_numbered
CREATE TABLE numbered AS
    SELECT unit, items.question, items.system, list_position($raters, rater) - 1 AS rater, value, rank, is_label
    FROM rows JOIN items USING (item)

-- name: repeats
SELECT count(*) - count(DISTINCT unit * len($raters) + rater) FROM numbered

-- name: no_repeats
CREATE VIEW answers AS SELECT * EXCLUDE (rank) FROM numbered

-- name: first_of_repeats
-- The first row with a value of an item and rater counts.
CREATE TABLE answers AS
    SELECT unit, any_value(question) AS question, any_value(system) AS system, rater, arg_min(value, rank) AS value,
        arg_min(is_label, rank) FILTER (value IS NOT NULL) AS is_label
    FROM numbered GROUP BY unit, rater

-- name: mean_of_repeats
CREATE TABLE answers AS
    SELECT unit, any_value(question) AS question, any_value(system) AS system, rater, avg(value) AS value,
        bool_and(is_label) FILTER (value IS NOT NULL) AS is_label
    FROM numbered GROUP BY unit, rater

-- name: create_rated
-- Without a value there is no rating.
CREATE VIEW rated AS SELECT * FROM answers WHERE value IS NOT NULL

-- name: sizes
SELECT (SELECT count(*) FROM rated), (SELECT count(DISTINCT unit) FROM rated),
    (SELECT count(DISTINCT question) FROM rated),
    (SELECT count(value) FROM rows) - (SELECT count(*) FROM rated),
    (SELECT coalesce(list(system ORDER BY system), []) FROM (SELECT DISTINCT system FROM items WHERE system IS NOT NULL))

-- name: raters
SELECT rater, count(*), bool_and(value IN (0, 1)), count(DISTINCT value), min(value), max(value)
    FROM rated GROUP BY rater ORDER BY rater

-- name: without_value
SELECT rater, count(*) FROM answers WHERE value IS NULL GROUP BY rater

-- name: values
SELECT DISTINCT value FROM rated WHERE list_contains($raters, rater) ORDER BY value LIMIT $limit

-- name: units_of_raters
SELECT rater, question, value, value AS lowest, value AS highest FROM rated

-- name: ratings_of_items
-- How many items have so many ratings.
SELECT ratings, count(*) FROM
    (SELECT count(*) AS ratings FROM rated WHERE list_contains($raters, rater) GROUP BY unit) GROUP BY ratings

-- name: agreement
-- Every ordered pair of two ratings of an item, by groups of questions, counted once for each pattern of ratings.
WITH listed AS (
        SELECT any_value(question) % $groups AS part, list_sort(list(value)) AS said
        FROM rated WHERE list_contains($raters, rater) GROUP BY unit
    ), patterns AS (
        SELECT part, said, len(said) AS m, len(said) = $equal AS is_equal, count(*) AS n
        FROM listed WHERE len(said) > 1 GROUP BY part, said
    ), places AS (
        SELECT part, said, m, is_equal, n, unnest(range(1, m + 1)) AS i FROM patterns
    )
    SELECT 'item' AS kind, part, is_equal, NULL::DOUBLE AS x, NULL::DOUBLE AS y, sum(n)::DOUBLE AS a, 0.0::DOUBLE AS b
        FROM patterns GROUP BY part, is_equal
    UNION ALL
    SELECT 'one', part, is_equal, said[i], NULL, sum(n)::DOUBLE, sum(n / m) FROM places
        GROUP BY part, is_equal, said[i]
    UNION ALL
    SELECT 'two', part, is_equal, said[i], said[j], sum(n / (m - 1)), sum(n / (m * (m - 1))) FROM
        (SELECT *, unnest(range(1, m + 1)) AS j FROM places) WHERE i <> j
        GROUP BY part, is_equal, said[i], said[j]

-- name: pairs
-- How often the first rater said x where the second said y.
SELECT one.question % $groups, one.value, two.value, count(*)
    FROM rated AS one JOIN rated AS two USING (unit) WHERE one.rater = $first AND two.rater = $second
    GROUP BY ALL

-- name: all_pairs
-- The same for every two raters, without groups.
SELECT one.rater, two.rater, one.value, two.value, count(*)
    FROM rated AS one JOIN rated AS two USING (unit) WHERE one.rater < two.rater
    AND list_contains($raters, one.rater) AND list_contains($raters, two.rater)
    GROUP BY ALL ORDER BY ALL

-- name: pool_sizes
SELECT count(*), count(DISTINCT question), count(y), avg(y), avg(f) FROM pool

-- name: create_pool
-- Items of one judge: its score f (NULL where it gave none), what the human says (y), and that again where it counts as
-- a label.
CREATE OR REPLACE TABLE pool AS
    SELECT judge.unit, judge.question, judge.value AS f, human.value AS y,
        CASE WHEN human.is_label THEN human.value END AS label
    FROM (SELECT * FROM answers WHERE rater = $judge) AS judge
    LEFT JOIN (SELECT * FROM rated WHERE rater = $human) AS human USING (unit)
    WHERE (human.unit IS NOT NULL AND judge.value IS NOT NULL) OR NOT $only_rated

-- name: create_paired_pool
-- Questions that both systems answered: differences of the first and the second, of means where there are several items;
-- NULL where the judge has no score of one of the two.
CREATE OR REPLACE TABLE pool AS
    WITH sides AS (
        SELECT question, rater, avg(value) FILTER (system = $first) - avg(value) FILTER (system = $second) AS difference,
            count(DISTINCT system) = 2 AS has_both, bool_and(is_label) FILTER (value IS NOT NULL) AS is_label
        FROM answers WHERE rater IN ($judge, $human) AND system IN ($first, $second) GROUP BY question, rater
    )
    SELECT judge.question AS unit, judge.question, judge.difference AS f, human.difference AS y,
        CASE WHEN human.is_label THEN human.difference END AS label
    FROM (SELECT * FROM sides WHERE rater = $judge AND has_both) AS judge
    LEFT JOIN (SELECT * FROM sides WHERE rater = $human AND difference IS NOT NULL) AS human USING (question)
    WHERE (human.question IS NOT NULL AND judge.difference IS NOT NULL) OR NOT $only_rated

-- name: pool_sums
-- Of items with a score.
SELECT question % $clusters, count(*), sum(f), sum(f * f), count(label), coalesce(sum(f) FILTER (label IS NOT NULL), 0),
        coalesce(sum(label), 0), coalesce(sum(f * f) FILTER (label IS NOT NULL), 0), coalesce(sum(f * label), 0),
        coalesce(sum(label * label), 0)
    FROM pool WHERE f IS NOT NULL GROUP BY 1 ORDER BY 1

-- name: pool_labels
-- Of all items, whatever the judge says.
SELECT question % $clusters, count(*), count(label), coalesce(sum(label), 0), coalesce(sum(label * label), 0)
    FROM pool GROUP BY 1 ORDER BY 1

-- name: pool_cells
SELECT question % $clusters, f, count(*), count(label), coalesce(sum(label), 0) FROM pool GROUP BY 1, 2 ORDER BY 1, 2

-- name: pool_known
SELECT f, label, count(*) FROM pool WHERE label IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2

-- name: compared
-- One value a question and system; questions that only one of them answered are left out.
SELECT x, y, count(*) FROM (
        SELECT avg(value) FILTER (system = $first) AS x, avg(value) FILTER (system = $second) AS y
        FROM rated WHERE rater = $rater AND system IN ($first, $second) GROUP BY question
    ) WHERE x IS NOT NULL AND y IS NOT NULL GROUP BY x, y

-- name: compared_bounds
-- Over all questions with a row of both systems: items without a score, and the mean difference if they all were the worst
-- or the best for the first system.
SELECT coalesce(sum(missing), 0)::BIGINT, count(*), avg(lowest), avg(highest) FROM (
        SELECT count(*) FILTER (value IS NULL) AS missing,
            avg(coalesce(value, $least)) FILTER (system = $first) - avg(coalesce(value, $greatest)) FILTER (system = $second)
                AS lowest,
            avg(coalesce(value, $greatest)) FILTER (system = $first) - avg(coalesce(value, $least)) FILTER (system = $second)
                AS highest
        FROM answers WHERE rater = $rater AND system IN ($first, $second) GROUP BY question
    ) WHERE lowest IS NOT NULL
