{items}.item AS {axis}
