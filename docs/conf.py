"""The site of the documents: `make docs` builds it with Sphinx."""

project = "kafka-unclean-recovery"
project_copyright = "the authors of kafka-unclean-recovery"
extensions = ["myst_parser", "sphinx_copybutton"]
# Of a transcript only what was typed is copied.
copybutton_prompt_text = r"\$ |> "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"
html_theme = "furo"
html_title = project
# What is linked by a heading inside a page.
myst_heading_anchors = 3
html_static_path = html_css_files = ["site.css"]
html_copy_source = html_show_sourcelink = False
html_show_sphinx = False
