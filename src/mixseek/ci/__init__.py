"""What build servers read of a result: JUnit XML, a summary in Markdown, annotations, and where they want each of them.

Gates are decided in `analysis`; the words of a report are in `reports`.
"""
