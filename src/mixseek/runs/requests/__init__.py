"""What somebody asks for, as the parts of a run: samples, a protocol, judges, a plan, and what a manifest says of each.

Here belong options as a request, names and files that become protocols and judges, and their entries in a manifest.
What is done with the parts is one folder up.
"""
