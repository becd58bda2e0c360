"""What stands around judging: judges that can be asked, the doctor, files to begin with, the demo, and upkeep.

Nothing here is needed to judge or to read a run.
"""
