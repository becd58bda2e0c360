"""Free answers: names, dates, phrases. Is the gold there, is it meant, and does something else stand in its place?"""
