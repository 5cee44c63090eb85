A page of results in a browser
==============================

  $ need chromium
  $ serve
  $ yodel-load --json --connections 2 --rate 500 -m 2.2 127.0.0.1 $PORT >run 2>log
  $ "$TESTDIR/../../contrib/recipes/results.py" --to html run >page.html
  $ browser() {
  >     chromium --headless --no-sandbox --disable-gpu --disable-background-networking --no-first-run \
  >         --user-data-dir=$PWD/profile "$@" "file://$PWD/page.html" 2>log
  > }
  $ browser --dump-dom | grep -o '<polyline class="series [abcd]'
  <polyline class="series a
  <polyline class="series a
  <polyline class="series a
  $ browser --screenshot=page.png --window-size=800,600 && head -c 4 page.png | tail -c 3
  PNG (no-eol)
